public import Domain
internal import FoundationEssentials

extension Timestamp {
    /// As RFC 3339 in UTC, with milliseconds where there are any: `2026-03-01T12:00:00Z`.
    public var rfc3339: String {
        let (seconds, milliseconds) = millisecondsSinceEpoch.quotientAndRemainder(dividingBy: 1_000)
        let floor = milliseconds < 0 ? seconds - 1 : seconds
        let rest = milliseconds < 0 ? milliseconds + 1_000 : milliseconds
        let text = Date(timeIntervalSince1970: TimeInterval(floor)).formatted(.iso8601)
        guard rest > 0 else { return text }
        return text.dropLast() + "." + String(1_000 + rest).dropFirst() + "Z"
    }

    /// The moment that RFC 3339 text names, in any offset, or nil where it is none.
    public init?(rfc3339 text: String) {
        guard text.utf8.count <= 40 else { return nil }
        let plain = Date.ISO8601FormatStyle()
        guard
            let date = (try? plain.parse(text))
                ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        else { return nil }
        self.init(millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }
}
