/// Everything that one run found out: all reports are made from it, and a later run is compared with it.
///
/// Times are nanoseconds unless a name says otherwise. `--json` writes it as it is.
struct RunReport: Codable, Sendable, Equatable {
    /// The format of this document; it rises when the meaning of a field changes.
    static let currentFormat = 1

    /// The format that this one has.
    var format = RunReport.currentFormat
    /// When the load began, RFC 3339.
    var startedAt: String
    /// The command line that repeats the run, with its seed.
    var command: String
    /// What the run was asked to do.
    var load: Load
    /// Where it ran.
    var environment: [Fact]
    /// How long the load lasted, from the first planned send to the last answer, in seconds.
    var seconds: Double
    /// Every kind of command that was sent, by name, such as `cart.add`; the two sums, `reads` and `writes`, come
    /// first.
    var calls: [CallReport]
    /// The run second by second.
    var windows: [Window]
    /// What was planned, and what became of it.
    var sending: Sending
    /// Error replies by code and command.
    var errors: [ErrorCount]
    /// What the oracle looked at, and what it found.
    var checks: Checks
    /// Faults made on purpose, in the order in which they began.
    var faults: [Fault]
    /// What the run cost the server; nil if its `INFO` does not say.
    var server: ServerUsage?
    /// Judgements besides the checks: thresholds, the baseline.
    var judgements: [Judgement] = []
    /// What else a reader has to know before believing the figures, a sentence each: that the run ended early, or
    /// that its baseline was measured on another machine.
    var remarks: [String] = []
    /// How it ended.
    var outcome: Outcome

    /// What a run was asked to do.
    struct Load: Codable, Sendable, Equatable {
        /// The scenarios and their weights.
        var scenarios: [Share]
        var seed: UInt64
        /// Whether the load waits for answers (`--closed`), or keeps to a plan.
        var isClosed: Bool
        /// The plan of an open load; empty for a closed one.
        var stages: [Stage]
        var connections: Int
        /// Commands in flight on each connection of a closed load.
        var pipeline: Int
        /// How long the load was to last, in seconds.
        var seconds: Double
        /// Whether the monkey made faults.
        var isChaotic: Bool
        /// How large its world was; nil in reports of earlier versions.
        var size: Size?
    }

    /// What there was, and how many asked for it.
    struct Size: Codable, Sendable, Equatable {
        var outlets: Int
        var items: Int
        var carts: Int
        var shoppers: Int
    }

    /// A scenario's share of the load.
    struct Share: Codable, Sendable, Equatable {
        var scenario: String
        var weight: Double
    }

    /// A part of the plan: the rate changes in a straight line to `rate`.
    struct Stage: Codable, Sendable, Equatable {
        var seconds: Double
        /// Sends per second at its end.
        var rate: Double
    }

    /// Something to know about the machine or the server.
    struct Fact: Codable, Sendable, Equatable {
        var name: String
        var value: String
    }

    /// What became of one kind of command.
    struct CallReport: Codable, Sendable, Equatable {
        var name: String
        var isWrite: Bool
        /// Answered without an error.
        var accepted: Int
        /// Answered with an error, expected or not.
        var refused: Int
        /// Never answered, not even when sent again.
        var unknown: Int
        /// From when a command was to be sent until its answer: the time that a user waits.
        var responseTime: Latency
        /// From when it was sent until its answer.
        var serviceTime: Latency
    }

    /// How long something took.
    struct Latency: Codable, Sendable, Equatable {
        var mean: Double
        var p50: UInt64
        var p90: UInt64
        var p99: UInt64
        var p999: UInt64
        var maximum: UInt64
        /// The whole curve: the part of answers, 0…1, that took at most this long, rising in both.
        var curve: [Point]

        /// A point of the curve.
        struct Point: Codable, Sendable, Equatable {
            var part: Double
            var value: UInt64
        }
    }

    /// One second of the run.
    struct Window: Codable, Sendable, Equatable {
        /// When it began, in seconds from the beginning of the load.
        var start: Double
        /// How long it was, in seconds: the last one may be shorter.
        var seconds: Double
        var reads: Flow
        var writes: Flow
        /// Errors that the oracle did not expect, `BUSY` and `UNAVAILABLE` among them.
        var failures: Int
        /// Commands in flight at its end.
        var inFlight: Int
        /// Processor time that the server used in it, in microseconds; nil if unknown.
        var serverMicroseconds: Int64?
        /// Resident memory of the server at its end, in bytes; nil if unknown.
        var serverBytes: Int64?
    }

    /// The answers of one second. Latencies are response times.
    struct Flow: Codable, Sendable, Equatable {
        var answered: Int
        var p50: UInt64
        var p99: UInt64
        var maximum: UInt64
    }

    /// What was planned, and what became of it.
    struct Sending: Codable, Sendable, Equatable {
        var planned: Int
        var sent: Int
        /// Sent more than a millisecond late.
        var late: Int
        /// Never sent, because too many were waiting already.
        var dropped: Int
        /// How late the monkey was when no earlier command of the same shopper was to blame.
        var ownDelay: Latency
        /// The part of the time, 0…1, that the monkey's one thread was busy.
        var busy: Double
        /// Why the figures say more about the monkey than about the server; nil if they do not.
        var limit: String?
    }

    /// How often a command was answered with a code.
    struct ErrorCount: Codable, Sendable, Equatable {
        var call: String
        var code: String
        var count: Int
        /// Whether the oracle knew that this answer was right.
        var isExpected: Bool
    }

    /// What the oracle looked at.
    struct Checks: Codable, Sendable, Equatable {
        /// By the name of the check: how often it was made.
        var made: [CheckCount]
        var violations: [Violation]
        /// Violations beyond those kept.
        var furtherViolations: Int

        var count: Int { made.reduce(0) { $0 + $1.count } }
    }

    struct CheckCount: Codable, Sendable, Equatable {
        var name: String
        var count: Int
    }

    /// Something the server should not have done.
    struct Violation: Codable, Sendable, Equatable {
        /// The check that found it.
        var check: String
        /// What is wrong, in a sentence.
        var message: String
        /// The shortest history that shows it, one line for each step.
        var history: [String]
        /// Seconds from the beginning of the load.
        var at: Double
    }

    /// A fault made on purpose.
    struct Fault: Codable, Sendable, Equatable {
        var kind: String
        var count: Int
        /// When it was first made, in seconds from the beginning of the load.
        var firstAt: Double
        /// Each time it was made, up to the first `RunReport.Fault.timesKept`, in seconds as well; empty if only the
        /// first is known.
        var times: [Double] = []

        /// The most times that are kept of one kind.
        static let timesKept = 500
    }

    /// What a run cost the server, from its `INFO`.
    struct ServerUsage: Codable, Sendable, Equatable {
        /// Processor time, in microseconds.
        var microseconds: Int64
        /// The peak of resident memory, in bytes.
        var peakBytes: Int64
        var batches: Int
        var events: Int
        /// How long commits took, in microseconds; 0 if there was none.
        var commitMicroseconds: Int
    }

    /// A threshold or a comparison, judged.
    struct Judgement: Codable, Sendable, Equatable {
        /// What was asked: `cart.add:p99<20ms`.
        var name: String
        /// What was found: `14.2 ms`.
        var found: String
        var held: Bool
        /// What to know about it: why it was not held, or why that is unknown.
        var remark: String? = nil
        /// What a comparison with a baseline is based on; nil for a threshold.
        var comparison: Comparison? = nil
    }

    /// A figure compared with the same figure of an earlier run.
    struct Comparison: Codable, Sendable, Equatable {
        var unit: Unit
        /// The figure of the earlier run.
        var before: Double
        /// The figure of this run.
        var after: Double
        /// The relative change from one to the other: -0.031 for 3.1 % less.
        var change: Double
        /// Where the change lies with 95 % confidence; nil if a run has only one such figure.
        var interval: Interval?
        /// The change for the worse that was allowed, 0…: 0.1 for 10 %.
        var allowed: Double
        /// Whether more of it is better, as with throughput.
        var isBetterHigher: Bool

        /// What the figures count.
        enum Unit: String, Codable, Sendable {
            /// Answers per second.
            case rate
            case nanoseconds
            case bytes
        }

        /// From where to where.
        struct Interval: Codable, Sendable, Equatable {
            var low: Double
            var high: Double
        }
    }

    /// How a run ended; its number is the exit code.
    enum Outcome: Int, Codable, Sendable {
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
}
