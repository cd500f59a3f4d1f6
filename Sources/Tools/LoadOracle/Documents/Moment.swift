/// Times as RFC 3339 writes them, in UTC.
package enum Moment {
    /// The milliseconds since the Unix epoch of a time such as `2026-03-01T12:00:00.250Z`; nil if it is none.
    static func milliseconds(_ text: String?) -> Int64? {
        guard let text, text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split { "-T:.".contains($0) }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == parts.count, (6...7).contains(numbers.count) else { return nil }
        // A year that begins in March ends with the day that it may lack.
        let (year, month) = numbers[1] > 2 ? (numbers[0], numbers[1] - 3) : (numbers[0] - 1, numbers[1] + 9)
        let day = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 1 - 719_468
        let seconds = ((day * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
        var fraction = numbers.count > 6 ? String(parts[6]) : ""
        while fraction.count < 3 { fraction += "0" }
        return seconds * 1_000 + (Int64(fraction.prefix(3)) ?? 0)
    }

    /// The time of so many milliseconds since the Unix epoch, to the minute.
    static func text(milliseconds: Int64) -> String {
        text(day: Int(milliseconds / 86_400_000), minute: Int(milliseconds % 86_400_000 / 60_000))
    }

    /// The time that lies so many minutes after the beginning of a day, which is counted from the Unix epoch.
    package static func text(day: Int, minute: Int) -> String {
        let all = day + minute / 1_440 + 719_468
        let era = all / 146_097
        let dayOfEra = all % 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let monthOfYear = month < 10 ? month + 3 : month - 9
        return "\(era * 400 + year + (monthOfYear < 3 ? 1 : 0))-\(two(monthOfYear))-"
            + "\(two(dayOfYear - (153 * month + 2) / 5 + 1))T\(two(minute % 1_440 / 60)):\(two(minute % 60)):00Z"
    }
}
