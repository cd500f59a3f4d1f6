import CommandHandling
import Domain
import EventLog
import Projections

/// One server process in small: a processor with its journal and read model, and what its commands were answered.
///
/// Everything happens when a test says so: no batch goes out and no stream is loaded by itself.
final class TestProcess {
    private final class Box {
        var model = ReadModel(partition: 0)
        var missing: [ClosedRange<Int64>] = []
    }

    let processor: CommandProcessor
    let journal: Journal
    private let box: Box
    /// In the order they came.
    private(set) var outcomes: [CommandOutcome] = []

    init(_ log: any EventLog, limits: CommandProcessor.Limits = CommandProcessor.Limits()) {
        let box = Box()
        self.box = box
        let processor = CommandProcessor(partition: 0, limits: limits) { box.model.mayExist($0) }
        self.processor = processor
        journal = Journal(processor: processor, partition: 0, position: 0, log: log, pause: {}) {
            box.model.pass(missing: $0.positions)
            box.missing.append($0.positions)
        } project: {
            box.model.apply($0)
        }
    }

    var model: ReadModel { box.model }
    /// The positions that the log was found to lack.
    var missing: [ClosedRange<Int64>] { box.missing }

    func projectedCount(of cart: Identifier) -> Int { box.model.cartCounts.count(of: cart) }

    /// The outcomes that came since the last time.
    func takeOutcomes() -> [CommandOutcome] {
        defer { outcomes = [] }
        return outcomes
    }

    // MARK: Commands

    func send(
        _ stream: StreamName, id: String? = nil, arguments: String = "same", version: Int64? = nil,
        _ command: @escaping (AggregateState, Int64) -> DomainCommand
    ) {
        let metadata = EventMetadata(commandID: id, fingerprint: id == nil ? nil : arguments)
        let request = CommandRequest(
            stream: stream, metadata: metadata, expectedVersion: version, command: command)
        processor.handle(request) { [unowned self] in outcomes.append($0) }
    }

    func send(
        _ cart: Identifier, _ command: Cart.Command, id: String? = nil, arguments: String = "same",
        version: Int64? = nil
    ) {
        send(.cart(cart), id: id, arguments: arguments, version: version) { _, _ in .cart(command) }
    }

    /// Checks a cart out for what it costs.
    func checkOut(_ cart: Identifier, id: String? = nil) {
        send(.cart(cart), id: id) { state, version in
            .cart(.checkOut(TestProcess.checkOut(of: cart, in: state, version)))
        }
    }

    static func checkOut(of cart: Identifier, in state: AggregateState, _ version: Int64) -> Cart.CheckOut {
        var checkOut = Cart.CheckOut(
            order: Partitioning.orderID(cart: cart, version: version), agreedTotal: 0, offers: [:])
        guard case .cart(.filled(let contents)) = state else { return checkOut }
        checkOut.agreedTotal = (try? contents.total()) ?? 0
        for line in contents.lines { checkOut.offers[line.id] = .tea }
        return checkOut
    }

    func read(_ stream: StreamName) -> Result<CommittedState, ReadFailure>? {
        var answer: Result<CommittedState, ReadFailure>?
        processor.read(stream) { answer = $0 }
        return answer
    }

    /// The committed count and version of a cart that is known here.
    func cart(_ id: Identifier) -> (count: Int, version: Int64)? {
        guard case .success(let committed) = read(.cart(id)), case .cart(let cart) = committed.state else {
            return nil
        }
        return (cart.count, committed.version)
    }

    // MARK: Steps

    @discardableResult
    func appendBatch() async -> EventBatch? {
        await journal.appendBatch(now: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000))
    }

    func load() async {
        for stream in processor.takeLoads() { await journal.load(stream) }
    }

    /// Does everything that is to be done, and gives the outcomes.
    func settle() async -> [CommandOutcome] {
        while true {
            let loads = processor.takeLoads()
            for stream in loads { await journal.load(stream) }
            guard processor.hasBatch || !loads.isEmpty else { return takeOutcomes() }
            await appendBatch()
        }
    }

    func catchUp() async throws {
        while try await journal.catchUp() {}
    }
}

extension InMemoryEventLog {
    /// Every event, understood.
    func events() throws -> [DecodedEvent] {
        try read(partition: 0, after: 0, limit: .max).map { try $0.decoded() }
    }

    /// The streams and versions of every event, in order.
    func history() throws -> [String] {
        try events().map { "\($0.stream)@\($0.version)" }
    }
}
