import Domain
import EventLog
import EventLoop
import Fleet
import LineProtocol
import Testing
import TextFormats
import Users

@testable import Application
@testable import LineServer
@testable import Peers
@testable import Serving

/// Says nothing: tests give servers much to complain about.
let silentLogger = Logger(level: .error, output: LineOutput(descriptor: -1))

/// What the database says of servers, as a test has it. Nobody changes a lease.
@LoopActor
final class StillStore: FleetStore {
    var view = FleetView(servers: [], leases: [])

    func renew(_ server: FleetServer) async throws -> FleetView { view }
    func change(_ changes: [LeaseChange]) async throws -> [Lease] { changes.map { view.leases[$0.partition] } }
    func leave(_ server: ServerID) async throws {}
}

/// Keys that customers get when a test says so.
@LoopActor
final class HeldKeys: CustomerKeys {
    private let keys = InMemoryCustomerKeys()
    private var waiting: [CheckedContinuation<Void, Never>] = []
    var isHolding = true

    /// How many look-ups are kept back.
    var waitingCount: Int { waiting.count }

    /// Ends those that wait, the last of them first, and keeps no more back unless that is said.
    func release(isHolding: Bool = false) {
        self.isHolding = isHolding
        let all = waiting
        waiting = []
        for continuation in all.reversed() { continuation.resume() }
    }

    private func hold() async {
        if isHolding { await withCheckedContinuation { waiting.append($0) } }
    }

    func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        await hold()
        return try await keys.makeKey(of: customer, partition: partition)
    }

    func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        await hold()
        return try await keys.key(of: customer, partition: partition)
    }

    func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting {
        try await keys.destroyKeys(of: customers, for: metadata)
    }

    func removeRemainders() async -> String? { nil }
}

/// A whole server, with its log in memory, that carries out the calls of others.
@LoopActor
final class Callee {
    let service: Server
    let line: LineServer
    let peers: PeerServer
    let store = StillStore()
    /// How others know it.
    let server: FleetServer

    static let outlet: [[String]] = [
        ["OUTLET.PUT", "o", #"{"name":"Spice Route","currency":"INR","timeZone":"Asia/Kolkata"}"#],
        ["OUTLET.OPEN", "o"],
        [
            "MENU.PUT", "o",
            #"{"sections":[{"id":"s","title":"S","kind":"menuItems","items":["#
                + #"{"id":"tea","kind":"menuItem","name":"Tea","price":250}]}]}"#,
        ],
    ]

    /// Gives a test a server that has an outlet with an item.
    static func with(
        keys: any CustomerKeys = InMemoryCustomerKeys(), tls: TLSContext? = nil,
        _ body: @LoopActor (Callee) async throws -> Void
    ) async throws {
        let log = InMemoryEventLog()
        let callee = try await Callee(on: log, keys: keys, tls: tls, links: nil)
        for words in outlet { _ = try await callee.service.perform(words.map { Array($0.utf8) }) }
        do {
            try await body(callee)
        } catch {
            await callee.stop()
            throw error
        }
        await callee.stop()
    }

    /// - Parameter links: what leads to other servers; nil where it has none to give calls to.
    init(
        on log: InMemoryEventLog, keys: any CustomerKeys = InMemoryCustomerKeys(), tls: TLSContext? = nil,
        links: PeerConnections?
    ) async throws {
        service = try await Server(
            configuration: Configuration(), log: log, history: log, keys: keys, store: nil, logger: silentLogger
        ) { Timestamp(millisecondsSinceEpoch: 1_700_000_000_000) }
        var configuration = LineConfiguration()
        configuration.port = 0
        configuration.tls = tls
        let id = ServerID.random()
        line = LineServer(service, configuration: configuration, logger: silentLogger, id: id)
        service.start()
        server = FleetServer(
            id: id, address: "127.0.0.1:\(try line.listen().port)", secret: PeerProof.newSecret())
        peers = PeerServer(service, logger: silentLogger)
        line.onPeer = { [peers] in peers.adopt($0) }
        store.view = FleetView(
            servers: [server],
            leases: (0..<log.partitionCount).map { Lease(partition: $0, holder: server.id, term: 1) })
        await service.join(
            FleetMember(
                server, partitionCount: log.partitionCount, store: store,
                links: links ?? PeerConnections(tls: nil, logger: silentLogger), logger: silentLogger))
    }

    func stop() async {
        line.drain()
        await service.stop()
        peers.close()
        line.close()
    }

    /// What it answers a client of its own.
    func answer(_ words: String...) async -> String {
        do throws(Failure) {
            return Result<Answer, Failure>.success(try await service.perform(words.map { Array($0.utf8) })).text
        } catch {
            return error.code.word
        }
    }
}

/// What became of calls, by their numbers.
@LoopActor
final class Outcomes {
    /// In the order in which it became known: `1 lost`.
    private(set) var all: [String] = []
    private var counts: [Int: Int] = [:]

    /// Takes the outcome of a call, and that once.
    func taker(of number: Int) -> @LoopActor (ForwardedOutcome) -> Void {
        { [self] outcome in
            counts[number, default: 0] += 1
            if counts[number] != 1 { Issue.record("call \(number) ends \(counts[number] ?? 0) times") }
            switch outcome {
            case .answered(.failure(let failure)): all.append("\(number) \(failure.code.word)")
            case .answered(let result): all.append("\(number) \(result.text)")
            case .notSent: all.append("\(number) notSent")
            case .lost: all.append("\(number) lost")
            }
        }
    }
}

extension PeerConnections {
    static func make(tls: TLSContext? = nil, _ limits: Limits = Limits()) -> PeerConnections {
        PeerConnections(tls: tls, logger: silentLogger, limits: limits)
    }

    /// Gives a server a call, which leaves at once where it can.
    func send(_ call: ForwardedCall, to server: FleetServer, _ number: Int, _ outcomes: Outcomes) {
        send(call, to: server, completion: outcomes.taker(of: number))
        flush()
    }
}

extension ForwardedCall {
    /// A call of a client that may do everything.
    static func of(_ client: Int64, _ words: String...) -> ForwardedCall { of(client, words) }

    static func of(_ client: Int64, _ words: [String]) -> ForwardedCall {
        ForwardedCall(
            words.map { Array($0.utf8) },
            from: CallOrigin(
                rights: .all, confinement: nil, caller: Caller(number: 1), client: client, actor: nil,
                isRecall: false, position: 0))
    }

    /// Puts tea into a cart, which waits for the key of its customer.
    static func tea(_ client: Int64, _ cart: String, of customer: String? = nil) -> ForwardedCall {
        of(client, ["CART.ADD", cart, "o", "tea", "1"] + (customer.map { ["NOTE", "hot", "CUSTOMER", $0] } ?? []))
    }
}

/// Lets the loop take turns until something is so.
@LoopActor
func turns(until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await LoopTimer.pause(milliseconds: 0) }
}
