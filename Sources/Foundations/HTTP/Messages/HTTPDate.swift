/// Times as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// A time.
    ///
    /// - Parameter seconds: since 1970; times outside the years 1970 to 9999 are taken for the nearest one within.
    public static func text(secondsSinceEpoch seconds: Int64) -> String {
        let seconds = min(max(seconds, 0), 253_402_300_799)
        let (day, time) = (Int(seconds / 86_400), Int(seconds % 86_400))
        let (year, month, date) = civil(day)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[day % 7]), \(two(date)) \(months[month - 1]) \(year) "
            + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// The date of a day since 1970, by Howard Hinnant's `civil_from_days`: years begin in March, so that a leap day is
    /// a year's last.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNewYear = month >= 10
        return (
            year + era * 400 + (isNewYear ? 1 : 0), isNewYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
