/// Everything that one run found out: all reports are made from it, and a later run is compared with it.
///
/// Times are nanoseconds unless a name says otherwise. `--json` writes it as it is.
package struct RunReport: Codable, Sendable, Equatable {
    /// The format of this document; it rises when the meaning of a field changes.
    package static let currentFormat = 1

    /// The format that this one has.
    package var format = RunReport.currentFormat
    /// When the load began, RFC 3339.
    package var startedAt: String
    /// The command line that repeats the run, with its seed.
    package var command: String
    /// What the run was asked to do.
    package var load: Load
    /// Where it ran.
    package var environment: [Fact]
    /// How long the load lasted, from the first planned send to the last answer, in seconds.
    package var seconds: Double
    /// Every kind of command that was sent, by name, such as `cart.add`; the two sums, `reads` and `writes`, come
    /// first.
    package var calls: [CallReport]
    /// The run second by second.
    package var windows: [Window]
    /// What was planned, and what became of it.
    package var sending: Sending
    /// Error replies by code and command.
    package var errors: [ErrorCount]
    /// What the oracle looked at, and what it found.
    package var checks: Checks
    /// Faults made on purpose, in the order in which they began.
    package var faults: [Fault]
    /// What the run cost the server; nil if its `INFO` does not say.
    package var server: ServerUsage?
    /// Judgements besides the checks: thresholds, the baseline.
    package var judgements: [Judgement] = []
    /// What else a reader has to know before believing the figures, a sentence each: that the run ended early, or
    /// that its baseline was measured on another machine.
    package var remarks: [String] = []
    /// How it ended.
    package var outcome: Outcome

    /// What a run was asked to do.
    package struct Load: Codable, Sendable, Equatable {
        /// The scenarios and their weights.
        package var scenarios: [Share]
        package var seed: UInt64
        /// Whether the load waits for answers (`--closed`), or keeps to a plan.
        package var isClosed: Bool
        /// The plan of an open load; empty for a closed one.
        package var stages: [Stage]
        package var connections: Int
        /// Commands in flight on each connection of a closed load.
        package var pipeline: Int
        /// How long the load was to last, in seconds.
        package var seconds: Double
        /// Whether the monkey made faults.
        package var isChaotic: Bool
        /// How large its world was; nil in reports of earlier versions.
        package var size: Size?

        package init(
            scenarios: [Share], seed: UInt64, isClosed: Bool, stages: [Stage], connections: Int, pipeline: Int,
            seconds: Double, isChaotic: Bool, size: Size? = nil
        ) {
            self.scenarios = scenarios
            self.seed = seed
            self.isClosed = isClosed
            self.stages = stages
            self.connections = connections
            self.pipeline = pipeline
            self.seconds = seconds
            self.isChaotic = isChaotic
            self.size = size
        }
    }

    /// What there was, and how many asked for it.
    package struct Size: Codable, Sendable, Equatable {
        package var outlets: Int
        package var items: Int
        package var carts: Int
        package var shoppers: Int

        package init(outlets: Int, items: Int, carts: Int, shoppers: Int) {
            self.outlets = outlets
            self.items = items
            self.carts = carts
            self.shoppers = shoppers
        }
    }

    /// A scenario's share of the load.
    package struct Share: Codable, Sendable, Equatable {
        package var scenario: String
        package var weight: Double

        package init(scenario: String, weight: Double) {
            self.scenario = scenario
            self.weight = weight
        }
    }

    /// A part of the plan: the rate changes in a straight line to `rate`.
    package struct Stage: Codable, Sendable, Equatable {
        package var seconds: Double
        /// Sends per second at its end.
        package var rate: Double

        package init(seconds: Double, rate: Double) {
            self.seconds = seconds
            self.rate = rate
        }
    }

    /// Something to know about the machine or the server.
    package struct Fact: Codable, Sendable, Equatable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What became of one kind of command.
    package struct CallReport: Codable, Sendable, Equatable {
        package var name: String
        package var isWrite: Bool
        /// Answered without an error.
        package var accepted: Int
        /// Answered with an error, expected or not.
        package var refused: Int
        /// Never answered, not even when sent again.
        package var unknown: Int
        /// From when a command was to be sent until its answer: the time that a user waits.
        package var responseTime: Latency
        /// From when it was sent until its answer.
        package var serviceTime: Latency

        package init(
            name: String, isWrite: Bool, accepted: Int, refused: Int, unknown: Int, responseTime: Latency,
            serviceTime: Latency
        ) {
            self.name = name
            self.isWrite = isWrite
            self.accepted = accepted
            self.refused = refused
            self.unknown = unknown
            self.responseTime = responseTime
            self.serviceTime = serviceTime
        }
    }

    /// How long something took.
    package struct Latency: Codable, Sendable, Equatable {
        package var mean: Double
        package var p50: UInt64
        package var p90: UInt64
        package var p99: UInt64
        package var p999: UInt64
        package var maximum: UInt64
        /// The whole curve: the part of answers, 0…1, that took at most this long, rising in both.
        package var curve: [Point]

        /// A point of the curve.
        package struct Point: Codable, Sendable, Equatable {
            package var part: Double
            package var value: UInt64

            package init(part: Double, value: UInt64) {
                self.part = part
                self.value = value
            }
        }

        package init(
            mean: Double, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, maximum: UInt64, curve: [Point]
        ) {
            self.mean = mean
            self.p50 = p50
            self.p90 = p90
            self.p99 = p99
            self.p999 = p999
            self.maximum = maximum
            self.curve = curve
        }
    }

    /// One second of the run.
    package struct Window: Codable, Sendable, Equatable {
        /// When it began, in seconds from the beginning of the load.
        package var start: Double
        /// How long it was, in seconds: the last one may be shorter.
        package var seconds: Double
        package var reads: Flow
        package var writes: Flow
        /// Errors that the oracle did not expect, `BUSY` and `UNAVAILABLE` among them.
        package var failures: Int
        /// Commands in flight at its end.
        package var inFlight: Int
        /// Processor time that the server used in it, in microseconds; nil if unknown.
        package var serverMicroseconds: Int64?
        /// Resident memory of the server at its end, in bytes; nil if unknown.
        package var serverBytes: Int64?

        package init(
            start: Double, seconds: Double, reads: Flow, writes: Flow, failures: Int, inFlight: Int,
            serverMicroseconds: Int64?, serverBytes: Int64?
        ) {
            self.start = start
            self.seconds = seconds
            self.reads = reads
            self.writes = writes
            self.failures = failures
            self.inFlight = inFlight
            self.serverMicroseconds = serverMicroseconds
            self.serverBytes = serverBytes
        }
    }

    /// The answers of one second. Latencies are response times.
    package struct Flow: Codable, Sendable, Equatable {
        package var answered: Int
        package var p50: UInt64
        package var p99: UInt64
        package var maximum: UInt64

        package init(answered: Int, p50: UInt64, p99: UInt64, maximum: UInt64) {
            self.answered = answered
            self.p50 = p50
            self.p99 = p99
            self.maximum = maximum
        }
    }

    /// What was planned, and what became of it.
    package struct Sending: Codable, Sendable, Equatable {
        package var planned: Int
        package var sent: Int
        /// Sent more than a millisecond late.
        package var late: Int
        /// Never sent, because too many were waiting already.
        package var dropped: Int
        /// How late the monkey was when no earlier command of the same shopper was to blame.
        package var ownDelay: Latency
        /// The part of the time, 0…1, that the monkey's one thread was busy.
        package var busy: Double
        /// Why the figures say more about the monkey than about the server; nil if they do not.
        package var limit: String?

        package init(
            planned: Int, sent: Int, late: Int, dropped: Int, ownDelay: Latency, busy: Double, limit: String?
        ) {
            self.planned = planned
            self.sent = sent
            self.late = late
            self.dropped = dropped
            self.ownDelay = ownDelay
            self.busy = busy
            self.limit = limit
        }
    }

    /// How often a command was answered with a code.
    package struct ErrorCount: Codable, Sendable, Equatable {
        package var call: String
        package var code: String
        package var count: Int
        /// Whether the oracle knew that this answer was right.
        package var isExpected: Bool

        package init(call: String, code: String, count: Int, isExpected: Bool) {
            self.call = call
            self.code = code
            self.count = count
            self.isExpected = isExpected
        }
    }

    /// What the oracle looked at.
    package struct Checks: Codable, Sendable, Equatable {
        /// By the name of the check: how often it was made.
        package var made: [CheckCount]
        package var violations: [Violation]
        /// Violations beyond those kept.
        package var furtherViolations: Int

        package var count: Int { made.reduce(0) { $0 + $1.count } }

        package init(made: [CheckCount], violations: [Violation], furtherViolations: Int) {
            self.made = made
            self.violations = violations
            self.furtherViolations = furtherViolations
        }
    }

    package struct CheckCount: Codable, Sendable, Equatable {
        package var name: String
        package var count: Int

        package init(name: String, count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// Something the server should not have done.
    package struct Violation: Codable, Sendable, Equatable {
        /// The check that found it.
        package var check: String
        /// What is wrong, in a sentence.
        package var message: String
        /// The shortest history that shows it, one line for each step.
        package var history: [String]
        /// Seconds from the beginning of the load.
        package var at: Double

        package init(check: String, message: String, history: [String], at: Double) {
            self.check = check
            self.message = message
            self.history = history
            self.at = at
        }
    }

    /// A fault made on purpose.
    package struct Fault: Codable, Sendable, Equatable {
        package var kind: String
        package var count: Int
        /// When it was first made, in seconds from the beginning of the load.
        package var firstAt: Double
        /// Each time it was made, up to the first `RunReport.Fault.timesKept`, in seconds as well; empty if only the
        /// first is known.
        package var times: [Double] = []

        /// The most times that are kept of one kind.
        package static let timesKept = 500

        package init(kind: String, count: Int, firstAt: Double, times: [Double] = []) {
            self.kind = kind
            self.count = count
            self.firstAt = firstAt
            self.times = times
        }
    }

    /// What a run cost the server, from its `INFO`.
    package struct ServerUsage: Codable, Sendable, Equatable {
        /// Processor time, in microseconds.
        package var microseconds: Int64
        /// The peak of resident memory, in bytes.
        package var peakBytes: Int64
        package var batches: Int
        package var events: Int
        /// How long commits took, in microseconds; 0 if there was none.
        package var commitMicroseconds: Int

        package init(microseconds: Int64, peakBytes: Int64, batches: Int, events: Int, commitMicroseconds: Int) {
            self.microseconds = microseconds
            self.peakBytes = peakBytes
            self.batches = batches
            self.events = events
            self.commitMicroseconds = commitMicroseconds
        }
    }

    /// A threshold or a comparison, judged.
    package struct Judgement: Codable, Sendable, Equatable {
        /// What was asked: `cart.add:p99<20ms`.
        package var name: String
        /// What was found: `14.2 ms`.
        package var found: String
        package var held: Bool
        /// What to know about it: why it was not held, or why that is unknown.
        package var remark: String? = nil
        /// What a comparison with a baseline is based on; nil for a threshold.
        package var comparison: Comparison? = nil

        package init(name: String, found: String, held: Bool, remark: String? = nil, comparison: Comparison? = nil) {
            self.name = name
            self.found = found
            self.held = held
            self.remark = remark
            self.comparison = comparison
        }
    }

    /// A figure compared with the same figure of an earlier run.
    package struct Comparison: Codable, Sendable, Equatable {
        package var unit: Unit
        /// The figure of the earlier run.
        package var before: Double
        /// The figure of this run.
        package var after: Double
        /// The relative change from one to the other: -0.031 for 3.1 % less.
        package var change: Double
        /// Where the change lies with 95 % confidence; nil if a run has only one such figure.
        package var interval: Interval?
        /// The change for the worse that was allowed, 0…: 0.1 for 10 %.
        package var allowed: Double
        /// Whether more of it is better, as with throughput.
        package var isBetterHigher: Bool

        /// What the figures count.
        package enum Unit: String, Codable, Sendable {
            /// Answers per second.
            case rate
            case nanoseconds
            case bytes
        }

        /// From where to where.
        package struct Interval: Codable, Sendable, Equatable {
            package var low: Double
            package var high: Double

            package init(low: Double, high: Double) {
                self.low = low
                self.high = high
            }
        }

        package init(
            unit: Unit, before: Double, after: Double, change: Double, interval: Interval?, allowed: Double,
            isBetterHigher: Bool
        ) {
            self.unit = unit
            self.before = before
            self.after = after
            self.change = change
            self.interval = interval
            self.allowed = allowed
            self.isBetterHigher = isBetterHigher
        }
    }

    /// How a run ended; its number is the exit code.
    package enum Outcome: Int, Codable, Sendable {
        /// Every check, threshold and comparison held.
        case held = 0
        /// The server did something it should not have.
        case checkFailed = 1
        /// A threshold or the comparison with the baseline failed.
        case thresholdFailed = 2
        /// It could not be run.
        case couldNotRun = 3
        /// The outcome of some command could not be found out.
        case unknown = 4
    }

    package init(
        startedAt: String, command: String, load: Load, environment: [Fact], seconds: Double, calls: [CallReport],
        windows: [Window], sending: Sending, errors: [ErrorCount], checks: Checks, faults: [Fault],
        server: ServerUsage?, judgements: [Judgement] = [], remarks: [String] = [], outcome: Outcome
    ) {
        self.startedAt = startedAt
        self.command = command
        self.load = load
        self.environment = environment
        self.seconds = seconds
        self.calls = calls
        self.windows = windows
        self.sending = sending
        self.errors = errors
        self.checks = checks
        self.faults = faults
        self.server = server
        self.judgements = judgements
        self.remarks = remarks
        self.outcome = outcome
    }
}
