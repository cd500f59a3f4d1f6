package import Domain
internal import Foundation

/// When a time zone's clocks show what, as the system's rules have it.
package struct ZoneRules {
    private static let day: Int64 = 86_400

    private let zone: TimeZone

    /// The rules of a zone; nil where the system does not know it.
    package init?(_ name: Text) {
        guard let zone = TimeZone(identifier: name.string) else { return nil }
        self.zone = zone
    }

    /// The moment at which the clocks show a time: the first one if they show it twice, and the moment at which they are
    /// put forward if they never show it.
    ///
    /// - Parameter local: in seconds since 1970-01-01T00:00 by those clocks.
    package func moment(atLocal local: Int64) -> Timestamp {
        let (before, after) = (offset(at: local - ZoneRules.day), offset(at: local + ZoneRules.day))
        // Clocks that were put back show it first by the earlier offset.
        for offset in [before, after] where self.offset(at: local - offset) == offset {
            return Timestamp(millisecondsSinceEpoch: (local - offset) * 1_000)
        }
        var (low, high) = (local - ZoneRules.day, local + ZoneRules.day)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            if offset(at: middle) == before { low = middle } else { high = middle }
        }
        return Timestamp(millisecondsSinceEpoch: high * 1_000)
    }

    /// How far the clocks are ahead of UTC at a moment, in seconds.
    private func offset(at seconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }
}
