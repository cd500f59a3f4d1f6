/// How numbers are written in every report: three digits for a measurement, thousands separated, a space before the
/// unit. `report.html` writes them the same way.
enum Figures {
    /// A duration in nanoseconds, in the unit that suits it: `850 ns`, `12.3 µs`, `1.23 ms`, `4.56 s`.
    static func duration(_ nanoseconds: Double) -> String {
        let units = ["ns", "µs", "ms", "s"]
        guard nanoseconds.isFinite else { return "– " + units[0] }
        var (value, unit) = (nanoseconds, 0)
        // What would be written as 1,000 of a unit is 1 of the next.
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return (unit == 0 ? fixed(value, places: 0) : digits(value)) + " " + units[unit]
    }

    /// A duration in nanoseconds.
    static func duration(_ nanoseconds: UInt64) -> String { duration(Double(nanoseconds)) }

    /// A whole number with thousands separators: `1,234,567`.
    static func count(_ count: Int) -> String {
        (count < 0 ? "−" : "") + grouped(String(count.magnitude))
    }

    /// A number per second: `12,345/s`, `12.3/s`.
    static func rate(_ perSecond: Double) -> String { digits(perSecond) + "/s" }

    /// A part of the whole, 0…1: `12.3 %`, `0.12 %`. A part that is not nothing is never written as nothing.
    static func percent(_ part: Double) -> String {
        guard part.isFinite else { return "– %" }
        let percent = part * 100
        if percent == 0 { return "0 %" }
        if percent < 0.005 { return "< 0.01 %" }
        if percent >= 100, percent == percent.rounded() { return fixed(percent, places: 0) + " %" }
        return fixed(percent, places: percent < 9.995 ? 2 : 1) + " %"
    }

    /// A relative change without its unit, with a sign: `−3.1`, `+150`, `0.0`.
    static func change(_ change: Double) -> String {
        guard change.isFinite else { return "–" }
        let percent = change * 100
        let places = abs(percent) < 99.95 ? 1 : 0
        let text = fixed(abs(percent), places: places)
        let isNothing = !text.contains { "123456789".contains($0) }
        return (isNothing ? "" : percent < 0 ? "−" : "+") + text
    }

    /// A time of the run in seconds: `12 s`, `0.5 s`, `1 min 30 s`, `2 h 5 min`.
    static func time(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "– s" }
        guard seconds >= 59.5 else {
            let isWhole = abs(seconds - seconds.rounded()) < 0.05
            return fixed(seconds, places: isWhole ? 0 : 1) + " s"
        }
        let whole = Int(seconds.rounded())
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        let parts = [(hours, "h"), (minutes, "min"), (hours == 0 ? rest : 0, "s")]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// Three significant digits, and all digits before the point: `0.123`, `1.23`, `12.3`, `12,345`.
    static func digits(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let magnitude = abs(value)
        if magnitude < 0.000_5 { return "0" }
        let places = magnitude < 0.999_5 ? 3 : magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0
        return (value < 0 ? "−" : "") + fixed(magnitude, places: places)
    }

    /// A number with this many places after the point, and thousands separators before it.
    static func fixed(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "–" }
        let factor = (0..<places).reduce(1) { factor, _ in factor * 10 }
        let units = Int((abs(value) * Double(factor)).rounded())
        var text = grouped(String(units / factor))
        if places > 0 {
            let rest = String(units % factor)
            text += "." + String(repeating: "0", count: places - rest.count) + rest
        }
        return value < 0 && units > 0 ? "−" + text : text
    }

    /// A number for a machine: three places, no separators, a plain minus.
    static func plain(_ value: Double, places: Int = 3) -> String {
        String(fixed(value, places: places).compactMap { $0 == "," ? nil : $0 == "−" ? "-" : $0 == "–" ? "0" : $0 })
    }

    private static func grouped(_ digits: String) -> String {
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return result
    }
}
