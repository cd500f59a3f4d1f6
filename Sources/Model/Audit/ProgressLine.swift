/// How far a pass over the log has come, in one line: a bar, the speed, and the time that is left.
public enum ProgressLine {
    private static let barWidth = 24
    /// A number that no pass comes to and that can be printed: a damaged log may say that it has any number of events.
    private static let limit = 1e15

    /// The line after so many of all events, which may be any numbers.
    public static func text(_ what: String, done: Int64, of total: Int64, seconds: Double) -> String {
        let part = total > 0 ? Double(done) / Double(total) : 1
        let filled = Int(min(max(part, 0), 1) * Double(barWidth))
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: barWidth - filled)
        // Before the first events are done, it is unknown how long the others take.
        guard done > 0, seconds > 0 else { return "\(what)  \(bar)" }
        let rate = Double(done) / seconds
        let left = (Double(total) - Double(done)) / rate
        return "\(what)  \(bar)  \(whole(rate)) events/s, \(whole(left.rounded(.up))) s left"
    }

    private static func whole(_ number: Double) -> Int64 { Int64(min(max(number, 0), limit)) }
}
