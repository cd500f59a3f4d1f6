/// A moment in UTC, in whole milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch.
    public let millisecondsSinceEpoch: Int64

    /// The moment that many milliseconds after the Unix epoch.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// The moment so many seconds later; the last one there is where that is out of range.
    public func adding(seconds: Int) -> Timestamp {
        let (added, isTooMuch) = Int64(seconds).multipliedReportingOverflow(by: 1_000)
        let (sum, overflow) = millisecondsSinceEpoch.addingReportingOverflow(added)
        guard !isTooMuch, !overflow else {
            return Timestamp(millisecondsSinceEpoch: seconds < 0 ? .min : .max)
        }
        return Timestamp(millisecondsSinceEpoch: sum)
    }

    /// Orders by time.
    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.millisecondsSinceEpoch < b.millisecondsSinceEpoch
    }
}
