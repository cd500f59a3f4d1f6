internal import HTTP
internal import Measurement

/// What the web server counts since its start.
struct WebStatistics {
    /// Connections accepted.
    var connections: Int64 = 0
    /// Connections that were not taken.
    var refused: Int64 = 0
    /// Messages that were left out for slow readers of streams.
    var passedOver: Int64 = 0
    /// Nanoseconds from a request to its answer, of all requests, without streams.
    private(set) var latency = Histogram()
    /// Answers by their statuses.
    private(set) var answers: [Int: Int64] = [:]

    mutating func count(_ status: HTTPStatus, nanoseconds: UInt64) {
        answers[status.rawValue, default: 0] += 1
        latency.record(nanoseconds)
    }
}
