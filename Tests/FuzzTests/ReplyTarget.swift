import LineProtocol

/// How a stream of replies is cut changes nothing, and what waits for more is bounded.
enum ReplyTarget {
    private static let limits = {
        var limits = ReplyLimits()
        limits.lineLength = 64
        limits.bulkLength = 80
        limits.valueCount = 12
        limits.depth = 4
        return limits
    }()

    private struct Reading {
        var replies: [Reply] = []
        var failure: ReplyError?
        var unread = 0

        /// Not by `==`, as a number may be none.
        func isSame(as other: Reading) -> Bool {
            failure == other.failure && (replies == other.replies || "\(replies)" == "\(other.replies)")
        }
    }

    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        let (whole, cut) = (read([input.bytes]), read(input.chunks))
        try promise(cut.isSame(as: whole), "cut, \(whole) is read as \(cut)")
        try promise(whole.unread == cut.unread || whole.failure != nil, "\(whole.unread) or \(cut.unread) bytes wait")
        try promise(
            whole.failure != nil || whole.unread <= limits.bulkLength + 2, "\(whole.unread) bytes wait for more")
    }

    private static func read(_ chunks: [[UInt8]]) -> Reading {
        var parser = ReplyParser(limits: limits)
        var reading = Reading()
        do throws(ReplyError) {
            for chunk in chunks {
                chunk.withUnsafeBytes { parser.append($0) }
                while let reply = try parser.next() { reading.replies.append(reply) }
            }
        } catch {
            reading.failure = error
        }
        reading.unread = parser.unread
        return reading
    }
}
