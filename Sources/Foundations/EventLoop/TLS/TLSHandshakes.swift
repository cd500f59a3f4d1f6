/// The TLS handshakes of a listener's connections. A client that gets through is passed on; others cost little.
///
/// A handshake takes about a millisecond of work with the server's private key. So the loop works at only a few of them
/// in a turn, and clients that are connected already hardly wait.
@LoopActor
final class TLSHandshakes {
    /// Time is counted in ticks of so many milliseconds.
    static let tick: UInt64 = 250
    /// How long a peer may take to go on.
    static let timeLimit = 40
    /// If there is no room for new clients, those that have taken longer than this make room.
    private static let patience = 8
    /// How long handshakes are worked at in a turn, in nanoseconds.
    static let share: UInt64 = 2_000_000

    /// One client. It is kept until it is through, or refused.
    private struct Handshake {
        let connection: TCPConnection
        let engine: TLSEngine
        /// Since when it is the client's turn. What is not enough for an answer does not count.
        var waitingSince: Int
        /// What it sent and waits for its turn; meanwhile nothing more is read.
        var held: [UInt8]?
    }

    /// What new connections use.
    var context: TLSContext
    /// Told of clients that did not get through: their address, and why.
    var onRefusal: (@LoopActor (String, String) -> Void)?
    /// There is room again.
    var onRoom: (@LoopActor () -> Void)?

    private let limit: Int
    private let onSecured: @LoopActor (TCPConnection) -> Void
    private var handshakes: [Int: Handshake] = [:]
    private var nextID = 0
    /// Those that wait for their turn.
    private var queue: [Int] = []
    private var turn: NextTurn?
    private var clock: LoopTimer?
    private var time = 0
    private var lastTick = LoopActor.now

    init(_ context: TLSContext, limit: Int, onSecured: @escaping @LoopActor (TCPConnection) -> Void) {
        self.context = context
        self.limit = limit
        self.onSecured = onSecured
    }

    var hasRoom: Bool { handshakes.count < limit }

    /// Begins with a client, if there is room.
    func begin(_ connection: TCPConnection) {
        let id = nextID
        nextID += 1
        handshakes[id] = Handshake(
            connection: connection, engine: TLSEngine(server: context, TCPConnection.buffers), waitingSince: time)
        clock =
            clock
            ?? LoopTimer(milliseconds: TLSHandshakes.tick, repeating: true) { [unowned self] in closeOverdue() }
        connection.onEnd = { [unowned self] in refuse(id, "it ended before the handshake") }
        connection.onClose = { [unowned self] failure in refuse(id, failure?.message ?? "it closed") }
        read(id, connection)
    }

    /// Closes all connections that are not through.
    func close() {
        onRoom = nil
        for id in handshakes.keys { refuse(id, "the server stops") }
    }

    private func read(_ id: Int, _ connection: TCPConnection) {
        connection.startReading { [unowned self] bytes in
            connection.stopReading()
            handshakes[id]?.held = Array(bytes)
            queue.append(id)
            workInNextTurn()
        }
    }

    private func workInNextTurn() {
        guard turn == nil, !queue.isEmpty else { return }
        turn = NextTurn { [self] in
            turn = nil
            let end = LoopActor.now + TLSHandshakes.share
            var count = 0
            repeat {
                advance(queue[count])
                count += 1
            } while count < queue.count && LoopActor.now < end
            queue.removeFirst(count)
            workInNextTurn()
        }
    }

    private func advance(_ id: Int) {
        guard let handshake = handshakes[id], let held = handshake.held else { return }
        let (connection, engine) = (handshake.connection, handshake.engine)
        handshakes[id]?.held = nil
        held.withUnsafeBytes { engine.handshake($0) }
        TCPConnection.buffers.flush {
            connection.write($0)
            handshakes[id]?.waitingSince = time
        }
        switch engine.state {
        case .handshaking: read(id, connection)
        case .failed(let reason): refuse(id, reason)
        case .open, .ended:
            guard connection.isOpen else { return }
            remove(id)
            connection.secure(with: engine)
            onSecured(connection)
        }
    }

    private func refuse(_ id: Int, _ reason: String) {
        guard let connection = handshakes[id]?.connection else { return }
        remove(id)
        // It may have been sent an alert that says why.
        connection.closeAfterWrites()
        onRefusal?(connection.peerAddress, reason)
    }

    private func remove(_ id: Int) {
        guard let handshake = handshakes.removeValue(forKey: id) else { return }
        (handshake.connection.onEnd, handshake.connection.onClose) = (nil, nil)
        if handshakes.isEmpty {
            clock?.cancel()
            clock = nil
        }
        onRoom?()
    }

    private func closeOverdue() {
        let now = LoopActor.now
        defer { lastTick = now }
        // If the loop was busy, it is late itself, not the clients.
        guard now - lastTick < 2 * 1_000_000 * TLSHandshakes.tick else { return }
        time += 1
        let isFull = !hasRoom
        let limit = isFull ? TLSHandshakes.patience : TLSHandshakes.timeLimit
        // A client that waits for us is not late.
        for (id, handshake) in handshakes where handshake.held == nil && time - handshake.waitingSince >= limit {
            refuse(id, isFull ? "it took long, and others wait for its place" : "it took too long")
        }
    }
}
