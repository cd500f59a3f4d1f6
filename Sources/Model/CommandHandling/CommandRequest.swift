// Handling commands: from a request to events in the log and a reply, one partition at a time.
//
// The promise: a command is decided against every event before it, a reply leaves only when what it rests on is
// durable, and an accepted command is applied once. `CommandProcessor` decides and puts events together into batches;
// `AppendPipeline` drives the batches to an `EventLog`. Neither does any I/O.

public import Domain
public import EventLog

/// A command of any aggregate. Indirect where it may be large, so that those of carts are small.
public enum DomainCommand: Sendable {
    indirect case outlet(Outlet.Command)
    indirect case menu(Menu.Command)
    case cart(Cart.Command)
    indirect case order(Order.Command)
    indirect case supply(Supply.Command)
    indirect case promotions(Promotions.Command)
}

/// A request to change a stream.
public struct CommandRequest {
    /// The stream to be changed.
    public var stream: StreamName
    /// The client's id for the command, with a fingerprint of its arguments.
    public var metadata: EventMetadata
    /// The version that the client believes the stream to have.
    public var expectedVersion: Int64?
    /// Makes the command for the state and version that it will be decided against, with what it needs from outside.
    /// It is called again if another writer was faster.
    public var command: (AggregateState, Int64) -> DomainCommand

    /// Whether the caller may know of the stream in this state; nil if everybody may. A caller that may not is always
    /// answered as if there were no stream.
    public var mayKnow: ((AggregateState) -> Bool)?

    /// Whether the command is only decided: if it would change the stream, its outcome is
    /// ``CommandOutcome/recordable``, and nothing has changed.
    public var isTrial = false

    /// Whether nothing is decided: the answer is the one that the same command got before, or that there was none.
    public var isRecall = false

    /// A request to change a stream.
    public init(
        stream: StreamName, metadata: EventMetadata = .none, expectedVersion: Int64? = nil,
        command: @escaping (AggregateState, Int64) -> DomainCommand
    ) {
        self.stream = stream
        self.metadata = metadata
        self.expectedVersion = expectedVersion
        self.command = command
    }
}

/// The reply to an accepted command.
public enum CommandReply: Equatable, Sendable {
    /// The stream's version.
    case version(Int64)
    /// The cart's sum of quantities.
    case count(Int)
    /// The order that was placed.
    case order(Identifier)
    /// The order that will be placed once the outlet's supply has what it claims.
    case checkingOut(Identifier)
}

extension AggregateState {
    /// The reply to a command that led to this state.
    func reply(version: Int64) -> CommandReply {
        switch self {
        case .outlet, .menu, .order, .supply, .promotions, .deed: .version(version)
        case .cart(.checkingOut(_, let checkout)): .checkingOut(checkout.order)
        case .cart(.checkedOut(_, let order)): .order(order)
        case .cart(let cart): .count(cart.count)
        }
    }
}

/// The outcome of a command.
public enum CommandOutcome: Equatable, Sendable {
    /// Accepted, and durable.
    case accepted(CommandReply)
    /// Only tried: it would be accepted, and be recorded.
    case recordable
    /// Not accepted by the domain. Nothing has changed.
    case rejected(Rejection)
    /// The stream is quarantined.
    case corrupt(CorruptEvent)
    /// Too many are waiting. Nothing has changed.
    case busy
    /// The log cannot be reached. Nothing has changed.
    case unavailable(String)
    /// The log was lost while the command was in flight: it may or may not have been accepted.
    case unknown(String)
}

/// The committed state of a stream, for questions.
public struct CommittedState: Equatable, Sendable {
    /// The state after its events.
    public var state: AggregateState
    /// The version of the last of them; 0 if there is none.
    public var version: Int64
    /// When the last of them was recorded.
    public var updatedAt: Timestamp
    /// The position of the last of them; 0 if there is none.
    public var position: Int64 = 0

    /// A stream of that kind before its first event.
    public init(initial category: StreamName.Category) {
        state = AggregateState(initial: category)
        version = 0
        updatedAt = Timestamp(millisecondsSinceEpoch: 0)
    }

    /// Takes in the stream's next event, or says why it cannot have happened.
    public mutating func take(_ event: DecodedEvent) throws(CorruptEvent) {
        do throws(ImpossibleEvent) {
            guard event.version == version + 1 else {
                throw ImpossibleEvent("version \(event.version) after \(version)")
            }
            try state.evolve(event.event)
        } catch {
            throw CorruptEvent(event, reason: error.description)
        }
        version = event.version
        updatedAt = event.recordedAt
        position = event.position
    }
}
