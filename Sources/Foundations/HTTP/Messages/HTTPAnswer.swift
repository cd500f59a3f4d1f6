/// An answer to a request.
public struct HTTPAnswer: Sendable {
    /// How it went.
    public var status: HTTPStatus
    /// The fields in their order, without those that every answer has.
    public var fields: [(name: StaticString, value: String)]
    /// The body; its end can lie apart, so that a part that many answers share is not copied for each.
    public var body: ArraySlice<UInt8>
    /// The end of the body.
    public var bodyEnd: String

    /// An answer.
    public init(
        _ status: HTTPStatus, fields: [(name: StaticString, value: String)] = [], body: ArraySlice<UInt8> = [],
        end: String = ""
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        bodyEnd = end
    }

    /// Appends the answer's bytes.
    ///
    /// - Parameters:
    ///   - date: the time, as ``HTTPDate`` writes it.
    ///   - keepsAlive: whether the connection can be used for another request afterwards.
    ///   - isHead: whether the request was a `HEAD`: the answer then says how long the body would be, and has none.
    public func write(to bytes: inout [UInt8], date: String, keepsAlive: Bool, isHead: Bool = false) {
        let length = body.count + bodyEnd.utf8.count
        bytes.reserveCapacity(bytes.count + 256 + (isHead ? 0 : length))
        writeStart(to: &bytes, date: date, keepsAlive: keepsAlive)
        if status.hasBody { bytes += "Content-Length: \(length)\r\n".utf8 }
        bytes += "\r\n".utf8
        guard status.hasBody, !isHead else { return }
        bytes += body
        bytes += bodyEnd.utf8
    }

    /// Appends the head of an answer whose body never ends: it is over when the connection is.
    public func writeEndlessHead(to bytes: inout [UInt8], date: String) {
        writeStart(to: &bytes, date: date, keepsAlive: false)
        bytes += "\r\n".utf8
    }

    private func writeStart(to bytes: inout [UInt8], date: String, keepsAlive: Bool) {
        // Piece by piece: a text of all would be made anew for each answer.
        bytes += "HTTP/1.1 ".utf8
        bytes += "\(status.rawValue) ".utf8
        bytes += status.reason.utf8
        bytes += "\r\nDate: ".utf8
        bytes += date.utf8
        bytes += "\r\n".utf8
        if !keepsAlive { bytes += "Connection: close\r\n".utf8 }
        for (name, value) in fields {
            name.withUTF8Buffer { bytes += $0 }
            bytes += ": ".utf8
            let start = bytes.count
            bytes += value.utf8
            // A line in a value would begin another field.
            for index in start..<bytes.count where bytes[index] < 0x20 { bytes[index] = .space }
            bytes += "\r\n".utf8
        }
    }

    /// What is sent to a client that waits with its body.
    public static let carryOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
}
