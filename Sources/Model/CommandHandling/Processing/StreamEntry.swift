internal import Domain
internal import EventLog

/// A stream that the processor holds: its committed state, and what is in flight on top of that.
final class StreamEntry {
    /// The most commands of one stream whose replies are remembered. A command that is repeated with its id after
    /// more than that is decided like a new one.
    static let maximumRememberedReplies = 1_024

    let name: StreamName
    var committed: CommittedState
    /// What is in flight; nil for nearly every stream at nearly every moment.
    var undurable: Undurable?
    /// Whether `committed` is what the log says. If not, the stream is loaded before it is used.
    var isKnown: Bool
    /// Whether the stream is assumed to be new because the read model does not have it. An append checks that; a
    /// command that needs no append has the stream loaded first.
    var isAssumedNew: Bool
    /// The load that is under way.
    var load: StreamLoad?
    /// What its newest commands wait for (``HeldCommands``).
    var heldBy: StreamName?
    var corruption: CorruptEvent?
    /// Whether it has been used since the cache's hand last passed.
    var isReferenced = true
    /// The number of the group that its events have in the newest batch with any, and that batch's number.
    var group: (batch: Int, number: Int32) = (0, 0)

    private struct RememberedReply {
        var fingerprint: Text
        var reply: CommandReply
        /// The version of the stream that it depends on.
        var version: Int64
    }
    private var replies: [Text: RememberedReply] = [:]
    /// The ids in the order of those versions.
    private var replyOrder: [Text] = []

    init(_ name: StreamName, isKnown: Bool) {
        self.name = name
        self.isKnown = isKnown
        isAssumedNew = isKnown
        committed = CommittedState(initial: name.category)
    }

    /// About the bytes of memory that it takes, and what the cache takes for that.
    var size: Int { 500 + 350 * replyOrder.count + committed.state.size }
    var knownSize = 0

    /// Whether a command is being decided that writes it, and may bring other streams into memory.
    var isBeingDecided = false

    var isIdle: Bool { undurable == nil && load == nil && heldBy == nil && !isBeingDecided }

    /// The state after everything in flight.
    var pending: AggregateState { undurable?.state ?? committed.state }
    /// The version after everything in flight.
    var pendingVersion: Int64 { undurable?.version ?? committed.version }

    /// What is in flight, to be given more events.
    func goAhead() -> Undurable {
        if let undurable { return undurable }
        let made = Undurable(committed.state, version: committed.version)
        undurable = made
        return made
    }

    /// Takes in an event of the log. Nothing may be in flight.
    func absorb(_ event: DecodedEvent) {
        assert(undurable == nil)
        guard corruption == nil, event.version > committed.version else { return }
        // The stream is not new after all.
        if isAssumedNew, event.version > 1 { return forget() }
        isAssumedNew = false
        do throws(CorruptEvent) {
            try committed.take(event)
        } catch {
            corruption = error
            return
        }
        remember(event.metadata, committed.state.reply(version: committed.version), event.version)
    }

    /// Drops everything, because the log says otherwise. Nothing may be in flight.
    func forget() {
        assert(undurable == nil)
        isKnown = false
        isAssumedNew = false
        committed = CommittedState(initial: name.category)
        corruption = nil
        replies = [:]
        replyOrder = []
    }

    /// Drops what is in flight, and the replies that depend on it.
    func forgetUndurable() {
        undurable = nil
        while let id = replyOrder.last, let known = replies[id], known.version > committed.version {
            replies[id] = nil
            replyOrder.removeLast()
        }
    }

    func remember(_ metadata: EventMetadata, _ reply: CommandReply, _ version: Int64) {
        guard let id = metadata.commandID, let fingerprint = metadata.fingerprint else { return }
        let reply = RememberedReply(fingerprint: fingerprint, reply: reply, version: version)
        if replies.updateValue(reply, forKey: id) == nil { replyOrder.append(id) }
        if replyOrder.count > StreamEntry.maximumRememberedReplies {
            replies[replyOrder.removeFirst()] = nil
        }
    }

    /// The reply to a command that has been accepted before.
    func reply(to metadata: EventMetadata) throws(Rejection) -> CommandReply? {
        guard !replies.isEmpty, let id = metadata.commandID, var known = replies[id] else { return nil }
        if case .checkingOut(let order) = known.reply {
            // What became of the checkout since. After a refusal it is decided anew, as any command that was refused.
            switch pending {
            case .cart(.checkingOut(_, let checkout)) where checkout.order == order: break
            case .cart(.checkedOut(_, order)): known.reply = .order(order)
            default: return nil
            }
        }
        guard known.fingerprint == metadata.fingerprint else {
            throw Rejection(.idMismatch, "ID '\(id)' was used with other arguments")
        }
        return known.reply
    }
}

extension AggregateState {
    /// About the bytes of memory that it takes.
    fileprivate var size: Int {
        switch self {
        case .outlet: 1_000
        case .deed: 0
        case .menu(let menu): menu.bytes + 500 * menu.entries.count + (menu.feed?.bytes ?? 0)
        case .cart(let cart): 300 * cart.lineCount
        case .supply(let supply): supply.bytes
        case .promotions(let promotions): 1_000 * promotions.list.count
        case .order(let order): 500 + 300 * (order.book?.placement.lines.count ?? 0)
        }
    }
}

/// A stream's state after everything in flight, and the commands that wait for that to become durable.
final class Undurable {
    var state: AggregateState
    var version: Int64
    /// In the order in which they were decided.
    var commands = CommandQueue()

    init(_ state: AggregateState, version: Int64) {
        self.state = state
        self.version = version
    }

    /// The state, which is gone then.
    func takeState() -> AggregateState {
        var taken = AggregateState.deed(.cart)
        swap(&taken, &state)
        return taken
    }
}

/// The commands and readers that wait for a stream to be loaded from the log.
final class StreamLoad {
    /// In order.
    var commands: [PendingCommand] = []
    var readers: [(Result<CommittedState, ReadFailure>) -> Void] = []
    /// The last version seen meanwhile: what is read from the log may be older.
    var requiredVersion: Int64 = 0
}

/// Commands in order. One alone, as nearly everywhere, needs no memory.
struct CommandQueue: Sequence {
    private(set) var first: PendingCommand?
    private var others: [PendingCommand] = []
    /// How many of the others have been the first.
    private var gone = 0

    mutating func append(_ command: PendingCommand) {
        if first == nil { first = command } else { others.append(command) }
    }

    mutating func removeFirst() {
        first = gone < others.count ? others[gone] : nil
        gone += 1
        if first == nil { (others, gone) = ([], 0) }
    }

    func makeIterator() -> some IteratorProtocol<PendingCommand> {
        (first.map { [$0] + others[gone...] } ?? []).makeIterator()
    }
}

/// A command, and the caller that waits for its outcome.
final class PendingCommand {
    let request: CommandRequest
    let completion: (CommandOutcome) -> Void
    /// How often another writer was faster.
    var conflicts = 0
    /// The reply once `restsOn` is durable.
    var outcome = CommandOutcome.busy
    /// The version of the stream that the outcome depends on.
    var restsOn: Int64 = 0
    /// The outlet that it was decided on, beside its stream.
    var outlet: Identifier?
    /// Whether it rests on the promotions of that outlet, too.
    var restsOnPromotions = false

    init(_ request: CommandRequest, _ completion: @escaping (CommandOutcome) -> Void) {
        self.request = request
        self.completion = completion
    }
}
