internal import EventLoop
internal import LoadOracle
internal import Measurement

/// Counts and times everything while the load lasts.
@LoopActor
final class Recorder {
    /// How late a send may be, in nanoseconds.
    static let lateness: UInt64 = 1_000_000

    struct Tally {
        var accepted = 0
        var refused = 0
        var response = Histogram()
        var service = Histogram()
    }

    /// What happened to reads, or to writes, since the last window began.
    struct Flow {
        var response = Histogram()

        mutating func take() -> RunReport.Flow {
            defer { response.removeAll() }
            return RunReport.Flow(
                answered: Int(response.count), p50: response.quantile(0.5), p99: response.quantile(0.99),
                maximum: response.maximum)
        }
    }

    struct ErrorKey: Hashable {
        var call: Call.Kind
        var code: String
        var isExpected: Bool
    }

    private(set) var isRecording = false
    private(set) var startedAt: UInt64 = 0
    private(set) var endedAt: UInt64 = 0
    private(set) var lastAnswerAt: UInt64 = 0
    private(set) var tallies = [Tally](repeating: Tally(), count: Call.Kind.allCases.count)
    private(set) var errors: [ErrorKey: Int] = [:]
    private(set) var faults: [String: (count: Int, times: [UInt64])] = [:]
    private(set) var windows: [RunReport.Window] = []
    private var reads = Flow()
    private var writes = Flow()
    private var failures = 0
    private var windowStart: UInt64 = 0

    var planned = 0
    private(set) var sent = 0
    private(set) var late = 0
    var dropped = 0
    private(set) var ownDelay = Histogram()
    private(set) var resent = 0
    private(set) var failedConnections = 0
    private(set) var inFlight = 0
    /// Answers since the process began, and those to what the load sent.
    private(set) var answeredEver = 0
    private(set) var answered = 0

    // MARK: The load

    func start() {
        isRecording = true
        startedAt = LoopActor.now
        windowStart = startedAt
        lastAnswerAt = startedAt
    }

    func end() {
        isRecording = false
        endedAt = LoopActor.now
    }

    /// How long the load has lasted so far, or lasted.
    var seconds: Double { seconds(at: endedAt == 0 ? LoopActor.now : endedAt) }

    func seconds(at time: UInt64) -> Double {
        time > startedAt ? Double(time - startedAt) / 1e9 : 0
    }

    // MARK: What happens

    /// - Parameter isOwnDelay: whether only the monkey is to blame if it is late.
    func sent(_ flight: Shopper.Flight, isOwnDelay: Bool) {
        inFlight += 1
        guard isRecording else { return }
        sent += 1
        let delay = flight.sent - min(flight.sent, flight.planned)
        if delay > Recorder.lateness { late += 1 }
        if isOwnDelay { ownDelay.record(delay) }
    }

    func answered(_ flight: Shopper.Flight, _ verdict: Verdict, at now: UInt64) {
        inFlight -= 1
        answeredEver += 1
        // What was to be sent before the load began, or is sent after its end, is not part of it.
        guard startedAt > 0, flight.planned >= startedAt, endedAt == 0 || flight.planned <= endedAt else { return }
        answered += 1
        lastAnswerAt = now
        let kind = flight.call.kind
        let response = now - min(now, flight.planned)
        let index = kind.rawValue
        tallies[index].response.record(response)
        tallies[index].service.record(now - min(now, flight.sent))
        switch verdict {
        case .accepted, .unchanged, .unsettled:
            tallies[index].accepted += 1
        case .refused(let code):
            tallies[index].refused += 1
            errors[ErrorKey(call: kind, code: code, isExpected: true), default: 0] += 1
        case .failed(let code):
            tallies[index].refused += 1
            failures += 1
            errors[ErrorKey(call: kind, code: code, isExpected: false), default: 0] += 1
        }
        if kind.isWrite { writes.response.record(response) } else { reads.response.record(response) }
    }

    /// A command was not answered, and will be sent again.
    func unanswered() { resent += 1 }

    func cannotConnect() { failedConnections += 1 }

    func made(_ fault: String) {
        var entry = faults[fault] ?? (0, [])
        entry.count += 1
        if entry.times.count < RunReport.Fault.timesKept { entry.times.append(LoopActor.now) }
        faults[fault] = entry
    }

    // MARK: Windows

    /// Ends the current window, and begins the next.
    func closeWindow(serverMicroseconds: Int64?, serverBytes: Int64?) {
        let now = LoopActor.now
        let window = RunReport.Window(
            start: seconds(at: windowStart), seconds: Double(now - windowStart) / 1e9, reads: reads.take(),
            writes: writes.take(), failures: failures, inFlight: inFlight, serverMicroseconds: serverMicroseconds,
            serverBytes: serverBytes)
        windowStart = now
        failures = 0
        windows.append(window)
    }
}
