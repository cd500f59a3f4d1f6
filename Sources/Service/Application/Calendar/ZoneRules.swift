package import Domain
internal import Foundation

/// When a time zone's clocks show what, as the system's rules have it.
package final class ZoneRules {
    private static let day: Int64 = 86_400
    /// Clocks are not changed twice within so many seconds.
    private static let spell: Int64 = 6 * 3_600

    private let zone: TimeZone
    /// How far the clocks are ahead of UTC in a spell, by its number; nil where they are changed in it.
    private var known: [Int64: Int64?] = [:]

    /// The rules of a zone; nil where the system does not know it.
    package init?(_ name: Text) {
        guard let zone = TimeZone(identifier: name.string) else { return nil }
        self.zone = zone
    }

    /// The moment at which the clocks show a time: if they show it twice, the first one or the last; if never, the moment
    /// at which they are put forward.
    ///
    /// - Parameter local: in seconds since 1970-01-01T00:00 by those clocks.
    package func moment(atLocal local: Int64, last: Bool = false) -> Timestamp {
        let (before, after) = (offset(at: local - ZoneRules.day), offset(at: local + ZoneRules.day))
        // Clocks that were put back show it first by the earlier offset.
        for offset in last ? [after, before] : [before, after] where self.offset(at: local - offset) == offset {
            return Timestamp(millisecondsSinceEpoch: (local - offset) * 1_000)
        }
        var (low, high) = (local - ZoneRules.day, local + ZoneRules.day)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            if offset(at: middle) == before { low = middle } else { high = middle }
        }
        return Timestamp(millisecondsSinceEpoch: high * 1_000)
    }

    /// The day that the clocks show at a moment.
    package func day(at moment: Timestamp) -> CalendarDay {
        let seconds = moment.millisecondsSinceEpoch.dividedDown(by: 1_000)
        return CalendarDay(number: (seconds + offset(at: seconds)).dividedDown(by: ZoneRules.day))
    }

    /// A moment as the clocks show it, with how far they are ahead of UTC: `2026-10-25T02:15:00+01:00`.
    package func rfc3339(_ moment: Timestamp) -> String {
        let seconds = offset(at: moment.millisecondsSinceEpoch.dividedDown(by: 1_000))
        let minutes = Int(abs(seconds)) / 60
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return moment.adding(seconds: Int(seconds)).rfc3339.dropLast() + (seconds < 0 ? "-" : "+")
            + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
    }

    /// How far the clocks are ahead of UTC at a moment, in seconds.
    private func offset(at seconds: Int64) -> Int64 {
        let spell = seconds.dividedDown(by: ZoneRules.spell)
        if let known = known[spell] { return known ?? offset(exactlyAt: seconds) }
        let first = offset(exactlyAt: spell * ZoneRules.spell)
        known.updateValue(first == offset(exactlyAt: (spell + 1) * ZoneRules.spell) ? first : nil, forKey: spell)
        return offset(exactlyAt: seconds)
    }

    private func offset(exactlyAt seconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }
}

extension Int64 {
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
