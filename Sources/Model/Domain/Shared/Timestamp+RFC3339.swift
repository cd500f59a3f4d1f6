// Foundation's ISO 8601 style is no help here: it takes 30 February and text behind the offset, counts the days
// before 1582 in the Julian calendar, and cannot say every moment that a number of milliseconds can.
extension Timestamp {
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// What RFC 3339 can say: from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z.
    private static let expressible: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// As RFC 3339 in UTC, with milliseconds where there are any: `2026-03-01T12:00:00Z`. A moment before the
    /// year 0 or after 9999 is given as the first or last moment of those years.
    public var rfc3339: String {
        let bounds = Timestamp.expressible
        let milliseconds = min(max(millisecondsSinceEpoch, bounds.lowerBound), bounds.upperBound)
        // Counted from the first expressible moment on, nothing is negative.
        let (days, time) = (milliseconds - bounds.lowerBound)
            .quotientAndRemainder(dividingBy: Timestamp.millisecondsPerDay)
        let date = CalendarDate(daysSinceYear0: Int(days))
        let (seconds, fraction) = Int(time).quotientAndRemainder(dividingBy: 1_000)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func append(_ number: Int, _ digits: Int, _ separator: StaticString) {
            var scale = 1
            for _ in 1..<digits { scale *= 10 }
            while scale > 0 {
                text.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
                scale /= 10
            }
            separator.withUTF8Buffer { text.append(contentsOf: $0) }
        }
        append(date.year, 4, "-")
        append(date.month, 2, "-")
        append(date.day, 2, "T")
        append(seconds / 3_600, 2, ":")
        append(seconds / 60 % 60, 2, ":")
        append(seconds % 60, 2, fraction > 0 ? "." : "Z")
        if fraction > 0 { append(fraction, 3, "Z") }
        return String(decoding: text, as: UTF8.self)
    }

    /// The moment that RFC 3339 text names, in any offset, or nil where it is none. What is finer than a
    /// millisecond is dropped.
    public init?(rfc3339 text: String) {
        var reader = DigitReader(rest: text.utf8[...])
        guard text.utf8.count <= 40,
            let year = reader.number(4), reader.skip("-"),
            let month = reader.number(2, in: 1...12), reader.skip("-"),
            let day = reader.number(2, in: 1...31), reader.skip("Tt"),
            let hour = reader.number(2, in: 0...23), reader.skip(":"),
            let minute = reader.number(2, in: 0...59), reader.skip(":"),
            let second = reader.number(2, in: 0...60),  // 60: a leap second is the one after it.
            let fraction = reader.skip(".") ? reader.thousandths() : 0,
            let offset = reader.offsetMinutes(), reader.rest.isEmpty
        else { return nil }
        let date = CalendarDate(year: year, month: month, day: day)
        // What is not in the calendar, as 30 February, would come back as another day.
        guard CalendarDate(daysSinceYear0: date.daysSinceYear0) == date else { return nil }
        let seconds = (hour * 60 + minute - offset) * 60 + second
        let milliseconds =
            Timestamp.expressible.lowerBound + Int64(date.daysSinceYear0) * Timestamp.millisecondsPerDay
            + Int64(seconds * 1_000 + fraction)
        guard Timestamp.expressible.contains(milliseconds) else { return nil }
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}

/// A day of the Gregorian calendar, from the year 0 on.
private struct CalendarDate: Equatable {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    // Both ways count with years that begin in March, so that a leap day is the last of its year: the months
    // then have 31, 30, 31, 30, 31 days, over and over, which is 153 in five. Four hundred years are added to
    // keep January of the year 0 from being negative.

    private static let daysPer400Years = 146_097
    /// From March to the next January: the days before 1 January of the year 0 in the year that holds it.
    private static let daysUntilJanuary = 306

    private static func firstDay(ofMarchYear year: Int) -> Int { 365 * year + year / 4 - year / 100 + year / 400 }

    private static let origin = firstDay(ofMarchYear: 399) + daysUntilJanuary

    init(daysSinceYear0 days: Int) {
        let days = days + CalendarDate.origin
        var marchYear = days * 400 / CalendarDate.daysPer400Years
        if CalendarDate.firstDay(ofMarchYear: marchYear) > days { marchYear -= 1 }
        if CalendarDate.firstDay(ofMarchYear: marchYear + 1) <= days { marchYear += 1 }
        let dayOfYear = days - CalendarDate.firstDay(ofMarchYear: marchYear)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = marchYear - 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceYear0: Int {
        let marchYear = year + 400 - (month <= 2 ? 1 : 0)
        let marchMonth = (month + 9) % 12
        return CalendarDate.firstDay(ofMarchYear: marchYear) + (153 * marchMonth + 2) / 5 + day - 1
            - CalendarDate.origin
    }
}

private struct DigitReader {
    var rest: Substring.UTF8View

    /// Takes one of these characters.
    mutating func skip(_ characters: StaticString) -> Bool {
        guard let first = rest.first, characters.withUTF8Buffer({ $0.contains(first) }) else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a number of exactly so many digits.
    mutating func number(_ digits: Int, in bounds: ClosedRange<Int> = 0...9_999) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return bounds.contains(value) ? value : nil
    }

    /// Takes digits after a decimal point, at least one.
    mutating func thousandths() -> Int? {
        guard var value = digit().map({ $0 * 100 }) else { return nil }
        var scale = 10
        while let digit = digit() {
            value += digit * scale
            scale /= 10
        }
        return value
    }

    /// Takes `Z`, or hours and minutes before or after UTC.
    mutating func offsetMinutes() -> Int? {
        if skip("Zz") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2, in: 0...23), skip(":"), let minutes = number(2, in: 0...59) else {
            return nil
        }
        return sign * (hours * 60 + minutes)
    }

    private mutating func digit() -> Int? {
        guard let first = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        rest.removeFirst()
        return Int(first - UInt8(ascii: "0"))
    }
}
