// The contract that every event log keeps: clauses, each a check of an empty log. A test target for a kind of log
// runs each of them on a new one.

package import EventLog
internal import Testing

/// One promise of an event log.
package struct Clause: Sendable, CustomTestStringConvertible {
    /// The promise in a sentence.
    package let testDescription: String
    /// How many partitions the log needs.
    package let partitionCount: Int
    /// Checks the promise on an empty log.
    package let check: @Sendable (any EventLog) async throws -> Void

    init(
        _ description: String, partitions: Int = 1, check: @escaping @Sendable (any EventLog) async throws -> Void
    ) {
        testDescription = description
        partitionCount = partitions
        self.check = check
    }

    /// The whole contract.
    package static let all =
        appending + conflicts + outcomes + forks + concurrency + whatIsRead

    /// What holds of a log to which nobody appends any more, too.
    package static let whatIsRead = reading + withoutCarts + commits + receipts
}
