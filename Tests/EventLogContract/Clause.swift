// The contract that every event log keeps: clauses, each a check of an empty log. A test target for a kind of log
// runs each of them on a new one.

public import EventLog
public import Testing

/// One promise of an event log.
public struct Clause: Sendable, CustomTestStringConvertible {
    /// The promise in a sentence.
    public let testDescription: String
    /// How many partitions the log needs.
    public let partitionCount: Int
    /// Checks the promise on an empty log.
    public let check: @Sendable (any EventLog) async throws -> Void

    init(
        _ description: String, partitions: Int = 1, check: @escaping @Sendable (any EventLog) async throws -> Void
    ) {
        testDescription = description
        partitionCount = partitions
        self.check = check
    }

    /// The whole contract.
    public static let all = appending + reading + commits + receipts + conflicts + outcomes + forks + concurrency
}
