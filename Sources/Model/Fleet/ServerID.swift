internal import EventLog

/// A server of the fleet, as everybody knows it: 40 hexadecimal digits, by chance, new at every start.
public struct ServerID: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let byteCount = 20

    /// The digits, in lower case.
    public let text: String

    /// The server with these digits; nil for any other text, also for digits in upper case.
    public init?(_ text: String) {
        guard text.utf8.count == 2 * ServerID.byteCount, text.utf8.allSatisfy(ServerID.isDigit) else { return nil }
        self.text = text
    }

    private init(bytes: [UInt8]) { text = bytes.hexadecimal }

    /// A server that there was never before.
    public static func random() -> ServerID {
        var random = SystemRandomNumberGenerator()
        return ServerID(bytes: (0..<byteCount).map { _ in .random(in: 0 ... .max, using: &random) })
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    /// In the order of their digits.
    public static func < (a: ServerID, b: ServerID) -> Bool { a.text < b.text }

    /// The same as ``text``.
    public var description: String { text }
}
