internal import Domain
internal import EventLog

/// A stream that the processor holds: its committed state, and what is on its way on top of that.
final class StreamEntry {
    /// The most commands of one stream whose replies are remembered: a command repeated with its id after so
    /// many others with ids is decided like a new one.
    static let maximumRememberedReplies = 1_024

    let name: StreamName
    var committed: CommittedState
    /// The state and version with everything on its way; those of `committed` where nothing is.
    var pending: AggregateState
    var pendingVersion: Int64
    /// Commands that are decided, and wait for what they rest on to become durable; in order.
    var undurable: [PendingCommand] = []
    /// Commands that wait for the stream to be loaded; in order. Not nil while a load is under way.
    var waiting: [PendingCommand]?
    /// Questions that wait for the same.
    var readers: [(Result<CommittedState, ReadFailure>) -> Void] = []
    var corruption: CorruptEvent?
    /// Whether it has been used since the cache's hand last passed.
    var isReferenced = true
    /// The group of its events in the batch of that number.
    var group: (batch: Int, number: Int32) = (0, 0)

    private var replies: [String: (fingerprint: String, reply: CommandReply)] = [:]
    private var replyOrder: [String] = []

    init(_ name: StreamName) {
        self.name = name
        pending = AggregateState(initial: name.category)
        pendingVersion = 0
        committed = CommittedState(state: pending, version: 0, updatedAt: Timestamp(millisecondsSinceEpoch: 0))
    }

    var isIdle: Bool { undurable.isEmpty && waiting == nil }

    /// Takes an event in that is in the log. Nothing may be on its way.
    func absorb(_ event: DecodedEvent) {
        assert(undurable.isEmpty)
        guard corruption == nil, event.version > committed.version else { return }
        do throws(ImpossibleEvent) {
            guard event.version == committed.version + 1 else {
                throw ImpossibleEvent("version \(event.version) after \(committed.version)")
            }
            try committed.state.evolve(event.event)
        } catch {
            corruption = CorruptEvent(
                partition: event.partition, position: event.position, stream: event.stream.description,
                reason: error.description)
            return
        }
        committed.version = event.version
        committed.updatedAt = event.recordedAt
        forgetPending()
        remember(event.metadata, CommandReply(after: committed.state, version: committed.version))
    }

    /// Drops what was on its way.
    func forgetPending() {
        pending = committed.state
        pendingVersion = committed.version
    }

    func remember(_ metadata: EventMetadata, _ reply: CommandReply) {
        guard let id = metadata.commandID, let fingerprint = metadata.fingerprint else { return }
        if replies.updateValue((fingerprint, reply), forKey: id) == nil { replyOrder.append(id) }
        if replyOrder.count > StreamEntry.maximumRememberedReplies {
            replies[replyOrder.removeFirst()] = nil
        }
    }

    func forget(_ metadata: EventMetadata) {
        guard let id = metadata.commandID, replies.removeValue(forKey: id) != nil else { return }
        replyOrder.removeAll { $0 == id }
    }

    /// The reply to a command that has been accepted before.
    func reply(to metadata: EventMetadata) throws(Rejection) -> CommandReply? {
        guard !replies.isEmpty, let id = metadata.commandID, let known = replies[id] else { return nil }
        guard known.fingerprint == metadata.fingerprint else {
            throw Rejection(.idMismatch, "ID '\(id)' was used with other arguments")
        }
        return known.reply
    }
}

/// A command with whoever waits for its outcome.
final class PendingCommand {
    let request: CommandRequest
    let completion: (CommandOutcome) -> Void
    /// How often another writer was faster.
    var conflicts = 0
    /// What is answered once `restsOn` is durable.
    var outcome = CommandOutcome.busy
    /// The version of the stream up to which the outcome rests on.
    var restsOn: Int64 = 0

    init(_ request: CommandRequest, _ completion: @escaping (CommandOutcome) -> Void) {
        self.request = request
        self.completion = completion
    }
}
