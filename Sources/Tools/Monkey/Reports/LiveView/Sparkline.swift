internal import Foundation

/// Latencies as a row of small columns, one for each second: `▂▂▃▂▁▂█▃`.
enum Sparkline {
    private static let columns: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// The least ratio between the highest and the lowest column: less is noise, not a peak.
    private static let leastRange = 4.0

    /// The columns, with a space for a missing value. Their height follows the logarithm: ten times as long is the
    /// same step everywhere.
    static func text(_ values: [UInt64?]) -> String {
        let logarithms = values.map { $0.map { log(Double(max(1, $0))) } }
        guard let lowest = logarithms.compactMap({ $0 }).min(), let highest = logarithms.compactMap({ $0 }).max() else {
            return String(repeating: " ", count: values.count)
        }
        let range = max(highest - lowest, log(leastRange))
        return String(
            logarithms.map { value in
                value.map { columns[Int((($0 - lowest) / range * Double(columns.count - 1)).rounded())] } ?? " "
            })
    }
}
