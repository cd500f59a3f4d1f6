import CommandHandling
import Domain
import EventLog
import Projections

/// One small server process: a pipeline with its processor and read model, and the answers to its commands.
///
/// Everything happens when a test says so: no batch is sent and no stream is loaded by itself.
final class TestProcess {
    private final class Box {
        var model = ReadModel(partition: 0)
        var missing: [ClosedRange<Int64>] = []
    }

    let processor: CommandProcessor
    let pipeline: AppendPipeline
    private let follower: LogFollower
    private let log: any EventLog
    private let box: Box
    /// An append that the pipeline asked for and that was not carried out.
    private var held: AppendPipeline.Action?
    /// In the order they came.
    private(set) var outcomes: [CommandOutcome] = []

    /// - Parameter isForgetful: whether its read model denies every stream.
    init(
        _ log: any EventLog, limits: CommandProcessor.Limits = CommandProcessor.Limits(), isForgetful: Bool = false
    ) {
        let box = Box()
        self.box = box
        let processor = CommandProcessor(partition: 0, limits: limits) { !isForgetful && box.model.mayExist($0) }
        self.processor = processor
        self.log = log
        follower = LogFollower(partition: 0, after: .start) {
            box.model.pass(missing: $0.positions)
            box.missing.append($0.positions)
        } project: {
            box.model.apply($0)
        }
        pipeline = AppendPipeline(processor: processor, follower: follower)
    }

    /// The position up to which the process knows the log.
    var position: Int64 { follower.position }
    /// Whether there is a batch to be appended.
    var hasBatch: Bool { held != nil || processor.hasBatch }
    var model: ReadModel { box.model }
    /// The positions that the log was found to lack.
    var missing: [ClosedRange<Int64>] { box.missing }

    func projectedCount(of cart: Identifier) -> Int { box.model.cartCounts.count(of: cart) ?? 0 }

    /// The outcomes that came since this was last called.
    func takeOutcomes() -> [CommandOutcome] {
        defer { outcomes = [] }
        return outcomes
    }

    // MARK: Commands

    func send(
        _ stream: StreamName, id: Text? = nil, arguments: Text = "same", version: Int64? = nil,
        _ command: @escaping (AggregateState, Int64) -> DomainCommand
    ) {
        let metadata = EventMetadata(commandID: id, fingerprint: id == nil ? nil : arguments)
        let request = CommandRequest(
            stream: stream, metadata: metadata, expectedVersion: version, command: command)
        processor.handle(request) { [unowned self] in outcomes.append($0) }
    }

    func send(
        _ cart: Identifier, _ command: Cart.Command, id: Text? = nil, arguments: Text = "same",
        version: Int64? = nil
    ) {
        send(.cart(cart), id: id, arguments: arguments, version: version) { _, _ in .cart(command) }
    }

    /// Checks out a cart for its total.
    func checkOut(_ cart: Identifier, id: Text? = nil) {
        send(.cart(cart), id: id) { state, version in
            .cart(.checkOut(TestProcess.checkOut(of: cart, in: state, version)))
        }
    }

    static func checkOut(of cart: Identifier, in state: AggregateState, _ version: Int64) -> Cart.CheckOut {
        var checkOut = Cart.CheckOut(
            order: Partitioning(count: 1).orderID(cart: cart, version: version), agreement: .total(0), offers: [:])
        guard case .cart(.filled(let contents)) = state else { return checkOut }
        checkOut.agreement = .total((try? contents.total()) ?? 0)
        for line in contents.lines { checkOut.offers[line.id] = .tea }
        return checkOut
    }

    func read(_ stream: StreamName) -> Result<CommittedState, ReadFailure>? {
        var answer: Result<CommittedState, ReadFailure>?
        processor.read(stream) { answer = $0 }
        return answer
    }

    /// The committed count and version of a cart that the process knows.
    func cart(_ id: Identifier) -> (count: Int, version: Int64)? {
        guard case .success(let committed) = read(.cart(id)), case .cart(let cart) = committed.state else {
            return nil
        }
        return (cart.count, committed.version)
    }

    // MARK: Steps

    /// Appends one batch and answers its commands. Returns it, whatever became of it.
    @discardableResult
    func appendBatch() async -> EventBatch? {
        var appended: EventBatch?
        while let action = takeAction() {
            if case .append(_, let batch, _) = action {
                if let appended, appended != batch {
                    held = action
                    while let action = nextAction() { await perform(action) }
                    return appended
                }
                appended = batch
            }
            await perform(action)
        }
        return appended
    }

    private func takeAction() -> AppendPipeline.Action? {
        defer { held = nil }
        return held ?? nextAction()
    }

    private func nextAction() -> AppendPipeline.Action? {
        pipeline.next(now: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000))
    }

    private func perform(_ action: AppendPipeline.Action) async {
        switch action {
        case .append(let number, let batch, let seen):
            pipeline.appended(
                number, await result { () throws(EventLogError) in try await log.append(batch, seen: seen) })
        case .appendNext(let number, let batch, let point):
            pipeline.appendedNext(
                number, await result { () throws(EventLogError) in try await log.appendNext(batch, after: point) })
        case .lookUp(let batch, let seen):
            pipeline.lookedUp(
                await result { () throws(EventLogError) in try await log.outcome(of: batch, since: seen) })
        case .read(let point, let limit): pipeline.read(await follow(after: point, limit))
        case .pause: pipeline.paused()
        }
    }

    private func follow(after point: LogPoint, _ limit: Int) async -> Result<FollowingEvents, EventLogError> {
        await result { () throws(EventLogError) in
            try await log.follow(partition: 0, after: point, limit: limit)
        }
    }

    private func result<Value>(
        _ body: () async throws(EventLogError) -> Value
    ) async -> Result<Value, EventLogError> {
        do throws(EventLogError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    /// Reads the streams that the pipeline wants.
    @discardableResult
    func load() async -> Int {
        let loads = pipeline.nextLoads()
        for load in loads { await perform(load) }
        return loads.count
    }

    private func perform(_ load: AppendPipeline.Load) async {
        var next: AppendPipeline.Load? = load
        while let load = next {
            next = pipeline.loaded(
                load,
                await result { () throws(EventLogError) in
                    try await log.read(
                        stream: load.stream, partition: 0, afterVersion: load.afterVersion, limit: load.limit,
                        seen: load.seen)
                })
        }
    }

    /// Does everything that there is to do, and returns the outcomes.
    func settle() async -> [CommandOutcome] {
        while true {
            let loads = await load()
            guard hasBatch || loads > 0 else { return takeOutcomes() }
            await appendBatch()
        }
    }

    /// Reads what others appended.
    ///
    /// - Parameter meanwhile: called when the log has been read, and before the process hears of it.
    func catchUp(meanwhile: () async -> Void = {}) async {
        pipeline.pollSoon()
        if case .read(let point, let limit) = nextAction() {
            let following = await follow(after: point, limit)
            await meanwhile()
            pipeline.read(following)
        }
        while let action = takeAction() {
            if case .append = action {
                held = action
                return
            }
            await perform(action)
        }
    }

    func readToEnd() async throws {
        try await follower.readToEnd(of: log) { _ in }
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
