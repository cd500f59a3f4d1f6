internal import Application
internal import EventLoop

/// What the clients of one address have together. Of IPv6, an address is a /64 network.
@LoopActor
final class AddressShare {
    /// Whose calls theirs are, as long as they are not logged in.
    let caller: Caller
    /// How many of its clients are connected.
    var clients = 0
    /// The bytes of memory that they take.
    var heldBytes = 0
    var allowance: CommandAllowance
    /// While others are served, no large request is executed until then.
    private(set) var restsUntil: UInt64 = 0

    /// For each millisecond that a large request keeps the server busy, so many pass before the next one: others then
    /// wait for such requests less often than for one in a hundred of theirs.
    private static let restFactor: UInt64 = 200
    /// The longest rest, in nanoseconds.
    private static let longestRest: UInt64 = 10_000_000_000

    init(of address: String, commandsPerSecond: Int) {
        caller = Caller(address: address)
        allowance = CommandAllowance(commandsPerSecond)
    }

    /// A large request has kept the server busy for so long, in nanoseconds.
    func kept(busy time: UInt64, until now: UInt64) {
        restsUntil = now + min(AddressShare.restFactor * time, AddressShare.longestRest)
    }
}

/// How many commands a client may still send: so many a second. It can save up those of one second.
struct CommandAllowance {
    private let perSecond: Double
    private var left: Double
    private var updatedAt: UInt64 = 0

    /// - Parameter perSecond: the commands a second; 0 for any number.
    init(_ perSecond: Int) {
        self.perSecond = Double(perSecond)
        left = self.perSecond
    }

    /// Uses one.
    mutating func use(at now: UInt64) {
        guard perSecond > 0 else { return }
        left = remaining(at: now) - 1
        updatedAt = now
    }

    /// Whether one is left.
    func isLeft(at now: UInt64) -> Bool { perSecond == 0 || remaining(at: now) >= 1 }

    /// Whether as many are left as can be saved up.
    func isWhole(at now: UInt64) -> Bool { remaining(at: now) >= perSecond }

    private func remaining(at now: UInt64) -> Double {
        let seconds = updatedAt == 0 || now < updatedAt ? 0 : Double(now - updatedAt) / 1e9
        return min(perSecond, left + seconds * perSecond)
    }
}

// What clients take from each other: memory and commands.
extension LineServer {
    /// Takes into account that a client holds so many bytes more, or fewer. Beyond a limit, those with the most go.
    func clientsHold(_ change: Int, of session: Session) {
        clientBytes += change
        session.share.heldBytes += change
        guard change > 0 else { return }
        if session.share.heldBytes > configuration.clientMemoryOfAddress {
            evict(of: session.share) { $0.share.heldBytes > configuration.clientMemoryOfAddress / 10 * 9 }
        }
        if clientBytes > configuration.clientMemory {
            evict(of: nil) { _ in clientBytes > configuration.clientMemory / 10 * 9 }
        }
    }

    /// Disconnects clients, of one address or of all, from the one with the most bytes on, while that is needed. A tenth
    /// is made free at once, so that this is rare.
    private func evict(of share: AddressShare?, while isNeeded: (Session) -> Bool) {
        let candidates = sessions.values.filter { share == nil || $0.share === share }
        for session in candidates.sorted(by: { $0.heldBytes > $1.heldBytes }) {
            guard isNeeded(session) else { return }
            session.evict()
        }
    }

    /// Whether there is any limit on the number of commands.
    var limitsCommands: Bool { configuration.commandsPerSecond > 0 || configuration.commandsPerSecondOfAddress > 0 }

    /// Has a session go on once it may.
    func continueWhenAllowed(_ session: Session) {
        limited.append(session)
        guard limitTimer == nil else { return }
        limitTimer = LoopTimer(milliseconds: 10, repeating: true) { [unowned self] in continueAllowed() }
    }

    private func continueAllowed() {
        let now = LoopActor.now
        let waiting = limited
        limited = []
        for session in waiting {
            // In the order in which they came, so that those of an address have their turns.
            if session.mayContinue(at: now) { session.resume() } else { limited.append(session) }
        }
        guard limited.isEmpty else { return }
        limitTimer?.cancel()
        limitTimer = nil
    }
}
