internal import EventLoop
internal import LineClient

/// What clients do that a server has to bear.
extension Client {
    /// Sends all that waits but for its last bytes, and cuts the connection.
    func cutRequest() {
        connection.write(UnsafeRawBufferPointer(rebasing: unsent.dropLast(max(1, unsent.count / 3))))
        close()
    }

    /// Sends all that waits, and cuts the connection in the middle of what comes next.
    func cutReply() {
        flush()
        onBytes = { [weak self] count in if count >= 2 { self?.close() } }
    }

    /// Sends all that waits and ends this side; the server still has to answer all of it, and to close.
    func endWriting() {
        flush()
        connection.endWriting()
    }

    /// Reads nothing for a while.
    func readSlowly(milliseconds: UInt64) {
        flush()
        connection.stopReading()
        _ = LoopTimer(milliseconds: milliseconds) { [self] in read() }
    }
}
