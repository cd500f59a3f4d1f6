import CommandHandling
import EventLog
import SeededRandom

/// The network between servers and the log: requests and replies in flight are delivered in an order that the seed
/// decides, late, twice or never.
final class SimulatedNetwork {
    let log = SimulatedLog()
    private var generator: SeededGenerator
    private var deliveries: [() -> Void] = []
    private var isCalm = false
    /// What has happened so far, so that a test can check that every kind of fault occurs.
    private(set) var faults: [Fault: Int] = [:]

    enum Fault: CaseIterable {
        case refused, lostRequest, lateRequest, doubledRequest, lostReply, dark, overdue, unread
        /// A read model that denies a stream, and a batch that was refused because of that.
        case lie, stale
        /// A request of an old epoch that arrived after a new one had begun.
        case fenced
        /// A batch that was sent behind another: appended, or refused because that one was not.
        case followed, outrun
        /// An older copy of the log that takes its place, and a server that notices.
        case fork, forked
    }

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// From now on nothing fails; what is in flight still arrives late.
    func calmDown() { isCalm = true }

    var isEmpty: Bool { deliveries.isEmpty }

    /// Delivers something that is in flight, if there is anything.
    func deliver() -> Bool {
        guard !deliveries.isEmpty else { return false }
        deliveries.remove(at: generator.number(0..<deliveries.count))()
        return true
    }

    /// Lets an older copy of the log take its place.
    func fork() {
        guard strikes(.fork, 100) else { return }
        log.fork(losing: generator.number(1..<4))
    }

    /// Lets some time pass.
    func wait(_ body: @escaping () -> Void) { send(body) }

    private func send(_ delivery: @escaping () -> Void) { deliveries.append(delivery) }

    private func strikes(_ fault: Fault, _ percent: Int) -> Bool {
        guard generator.chance(percent), !isCalm else { return false }
        faults[fault, default: 0] += 1
        return true
    }

    /// Whether commands have waited long enough for the outcome of their batch.
    func isOverdue() -> Bool { strikes(.overdue, 5) }

    /// Whether a read model denies a stream that it knows.
    func lies() -> Bool { strikes(.lie, 5) }

    // MARK: Connections

    /// A server's connections. They know the epoch that PostgreSQL last reported, and send a batch again that was
    /// refused only because of its epoch.
    final class Connection {
        private let network: SimulatedNetwork
        private var epoch: Int
        /// How many look-ups will still fail.
        private var darkness = 0

        init(_ network: SimulatedNetwork) {
            self.network = network
            epoch = network.log.epoch
        }

        func append(
            _ batch: EventBatch, seen: LogPoint, reply: @escaping (Result<AppendReceipt, EventLogError>) -> Void
        ) {
            let (network, epoch) = (network, epoch)
            send(reply, mayBeDoubled: true) { log throws(EventLogError) in
                do throws(EventLogError) {
                    let answer = try log.append(batch, seen: seen, epoch: epoch)
                    if !answer.receipt.stale.isEmpty { network.faults[.stale, default: 0] += 1 }
                    if answer.epoch != epoch { network.faults[.fenced, default: 0] += 1 }
                    return answer
                } catch {
                    network.faults[.forked, default: 0] += 1
                    throw error
                }
            } then: { [self] answer in
                self.epoch = answer.epoch
                if answer.epoch == epoch {
                    reply(.success(answer.receipt))
                } else {
                    append(batch, seen: seen, reply: reply)
                }
            }
        }

        func appendNext(
            _ batch: EventBatch, after point: LogPoint, reply: @escaping (Result<LogPoint?, EventLogError>) -> Void
        ) {
            let (network, epoch) = (network, epoch)
            // What was refused may not be there in the end. A connection to PostgreSQL keeps that.
            send(reply, mayBeDoubled: false) { log throws(EventLogError) in
                let end = try log.appendNext(batch, after: point, epoch: epoch)
                network.faults[end == nil ? .outrun : .followed, default: 0] += 1
                return end
            } then: {
                reply(.success($0))
            }
        }

        /// Sends a batch, which may arrive late, twice or never, and whose answer may be lost.
        private func send<Reply, Answer>(
            _ reply: @escaping (Result<Reply, EventLogError>) -> Void, mayBeDoubled: Bool,
            _ append: @escaping (SimulatedLog) throws(EventLogError) -> Answer, then: @escaping (Answer) -> Void
        ) {
            let (network, log, forks) = (network, network.log, network.log.forks)
            func arrive() throws(EventLogError) -> Answer {
                // What was sent to the log that is gone does not reach the one in its place.
                guard log.forks == forks else { throw .outcomeUnknown("gone") }
                return try append(log)
            }
            network.send { [self] in
                if network.strikes(.refused, 6) { return reply(.failure(.unavailable("refused"))) }
                if network.strikes(.lostRequest, 6) { return lose(reply) }
                if network.strikes(.lateRequest, 8) {
                    network.send { _ = try? arrive() }
                    return lose(reply)
                }
                if mayBeDoubled, network.strikes(.doubledRequest, 5) { network.send { _ = try? arrive() } }
                let answer: Answer
                do throws(EventLogError) {
                    answer = try arrive()
                } catch {
                    return reply(.failure(error))
                }
                if network.strikes(.lostReply, 10) { return lose(reply) }
                network.send { then(answer) }
            }
        }

        private func lose<Reply>(_ reply: (Result<Reply, EventLogError>) -> Void) {
            darkness = network.strikes(.dark, 20) ? AppendPipeline.outcomeAttempts : network.generator.number(0..<3)
            reply(.failure(.outcomeUnknown("lost")))
        }

        func outcome(
            of batch: EventBatch, since seen: LogPoint, reply: @escaping (Result<AppendReceipt?, EventLogError>) -> Void
        ) {
            guard darkness == 0 || network.isCalm else {
                darkness -= 1
                return network.send { reply(.failure(.unavailable("dark"))) }
            }
            network.send { [self] in
                let (receipt, epoch) = network.log.outcome(of: batch, since: seen, epoch: self.epoch)
                if network.strikes(.lostReply, 10) { return reply(.failure(.outcomeUnknown("lost"))) }
                network.send { [self] in
                    self.epoch = epoch
                    reply(.success(receipt))
                }
            }
        }

        func follow(
            after point: LogPoint, limit: Int, reply: @escaping (Result<FollowingEvents, EventLogError>) -> Void
        ) {
            // Small pages, so that there are several.
            answer(reply) { log throws(EventLogError) in try log.follow(after: point, limit: min(limit, 7)) }
        }

        func read(_ load: AppendPipeline.Load, reply: @escaping (Result<[RecordedEvent], EventLogError>) -> Void) {
            answer(reply) { log throws(EventLogError) in
                try log.read(load.stream, afterVersion: load.afterVersion, limit: load.limit, seen: load.seen)
            }
        }

        private func answer<Answer>(
            _ reply: @escaping (Result<Answer, EventLogError>) -> Void,
            _ read: @escaping (SimulatedLog) throws(EventLogError) -> Answer
        ) {
            let network = network
            network.send {
                if network.strikes(.unread, 10) { return reply(.failure(.unavailable("unread"))) }
                let answer = Result { () throws(EventLogError) in try read(network.log) }
                network.send { reply(answer) }
            }
        }
    }
}
