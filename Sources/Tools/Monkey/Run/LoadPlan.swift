/// When an open load sends: a rate that changes in straight lines from stage to stage.
struct LoadPlan: Equatable, Sendable {
    private struct Segment: Equatable, Sendable {
        /// Seconds from the beginning, and how many sends are due until then.
        var start: Double
        var sentBefore: Double
        var seconds: Double
        var from: Double
        var to: Double

        var total: Double { (from + to) / 2 * seconds }

        /// When the nth send of the segment is due.
        func time(of number: Double) -> Double {
            let slope = (to - from) / seconds
            // from·t + slope·t²/2 = number, solved so that a small slope loses no digits.
            let root = max(0, from * from + 2 * slope * number).squareRoot()
            // A rise from 0 has its first send at its beginning.
            return start + (from + root > 0 ? min(seconds, 2 * number / (from + root)) : 0)
        }
    }

    private var segments: [Segment] = []
    let seconds: Double
    /// How many are sent in all.
    let total: Int

    /// - Parameter stages: if there are several, the first one rises from 0; a single one is level.
    init(_ stages: [RunReport.Stage]) {
        var rate = stages.count == 1 ? stages[0].rate : 0
        var (start, sent) = (0.0, 0.0)
        for stage in stages where stage.seconds > 0 {
            let segment = Segment(
                start: start, sentBefore: sent, seconds: stage.seconds, from: rate, to: stage.rate)
            segments.append(segment)
            start += stage.seconds
            sent += segment.total
            rate = stage.rate
        }
        seconds = start
        total = Int(sent)
    }

    /// When the nth send, from 0, is due, in seconds from the beginning; nil if there is none.
    func time(of number: Int) -> Double? {
        guard number < total else { return nil }
        let wanted = Double(number)
        let segment = segments.last { $0.sentBefore <= wanted && $0.total > 0 }
        return segment.map { $0.time(of: wanted - $0.sentBefore) }
    }
}
