/// The framing of server-sent events.
public enum EventStream {
    /// A comment, which clients pass over: it keeps the connection from looking idle.
    public static let comment = Array(":\n\n".utf8)

    /// An event. Line ends in the data begin further lines of it, and so arrive as LF.
    ///
    /// - Parameter name: without line ends.
    public static func frame(_ name: String, _ data: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(name.utf8.count + data.count + 20)
        frame += "event: ".utf8
        frame += name.utf8
        var rest = data[...]
        repeat {
            let end = rest.firstIndex { $0 == .lineFeed || $0 == .carriageReturn } ?? rest.endIndex
            frame += "\ndata: ".utf8
            frame += rest[..<end]
            let isPair = rest[end...].starts(with: [.carriageReturn, .lineFeed])
            rest = rest[min(end + (isPair ? 2 : 1), rest.endIndex)...]
        } while !rest.isEmpty
        frame += "\n\n".utf8
        return frame
    }
}
