internal import EventLog
internal import EventLoop
internal import Postgres

/// The connections that append, for all partitions. Appends that become ready in one turn of the loop leave as one
/// transaction.
@LoopActor
final class LogWriters {
    /// How long an append that leaves with others waits for a lock. Who appends holds a head for a commit, which takes
    /// a millisecond or a few. All appends of a transaction together wait for less than the connection's deadline.
    static let patience = Duration.milliseconds(25)
    /// How many connections there are for contended partitions.
    static let others = 2
    /// How long an append waits to be sent, in nanoseconds: as long as one that was sent waits for a lock.
    private static let patienceUnsent: UInt64 = 1_500_000_000
    private static let lookEvery: UInt64 = 100

    private struct Call {
        let statement: Statement
        let parameters: [Parameter]
        let needsRoom: Bool
        let since: UInt64
        let completion: (Result<Rows?, EventLogError>) -> Void
    }

    let connections: [LazyConnection]
    private let isSingle: Bool
    private let hasRoom: @LoopActor () -> Bool
    private var schedule: AppendSchedule<Call>
    private var isGathering = false
    private var connecting: Set<Int> = []
    private var watch: LoopTimer?
    private var lookedAt: UInt64 = 0

    init(
        _ database: String, partitions: Int, hasRoom: @escaping @LoopActor () -> Bool,
        report: (@LoopActor (String) -> Void)?
    ) {
        isSingle = partitions == 1
        self.hasRoom = hasRoom
        let others = isSingle ? 0 : LogWriters.others
        schedule = AppendSchedule(partitions: partitions, others: others)
        let deadlines: KeptConnection.Deadlines? = report == nil ? nil : .writing
        var hurried = deadlines ?? .none
        if !isSingle { hurried.lock = LogWriters.patience }
        connections =
            [LazyConnection(database, name: "tiffin writer", deadlines: hurried, report: report)]
            + (0..<others).map {
                LazyConnection(database, name: "tiffin lone writer \($0 + 1)", deadlines: deadlines, report: report)
            }
        guard !isSingle, report != nil else { return }
        watch = LoopTimer(milliseconds: LogWriters.lookEvery, repeating: true) { [weak self] in self?.giveUpUnsent() }
    }

    /// Executes a statement that locks the head of a partition. Returns nil if it was refused because a row with its key
    /// exists.
    ///
    /// - Parameters:
    ///   - bytes: about how long it is.
    ///   - isAlone: whether it may well have to wait for others.
    ///   - needsRoom: whether it adds to the database.
    func execute(
        _ statement: Statement, _ parameters: [Parameter], partition: Int, bytes: Int, isAlone: Bool, needsRoom: Bool
    ) async throws(EventLogError) -> Rows? {
        try await withUnsafeContinuation(isolation: LoopActor.shared) { continuation in
            let call = Call(
                statement: statement, parameters: parameters, needsRoom: needsRoom, since: LoopActor.now
            ) { continuation.resume(returning: $0) }
            schedule.add(.init(partition: partition, bytes: bytes, call: call), isAlone: isAlone)
            gather()
        }.get()
    }

    /// An append found the head where it was, or somebody else has moved it.
    func found(_ partition: Int, isContended: Bool) { schedule.found(partition, isContended: isContended) }

    func close() {
        watch?.cancel()
        watch = nil
        for connection in connections { connection.close() }
    }

    // MARK: Sending

    /// Sends what is ready, with what the other partitions have ready in this turn. After an answer, their first jobs
    /// take note of it, and the next ones append.
    private func gather() {
        if isSingle { return send() }
        guard !isGathering else { return }
        isGathering = true
        LoopActor.afterJobs { [self] in
            LoopActor.afterJobs { [self] in
                isGathering = false
                send()
            }
        }
    }

    private func send() {
        for index in connections.indices where schedule.isWaiting(on: index) { send(on: index) }
    }

    private func send(on index: Int) {
        if !hasRoom() { refuse(on: index, .unavailable(DatabaseTrouble.full)) { $0.needsRoom } }
        let connection = connections[index]
        while connection.isOpen, let transaction = schedule.next(on: index) {
            connection.execute(
                transaction.appends[0].call.statement, forEach: transaction.appends.map(\.call.parameters)
            ) { [self] in answered(transaction, $0, $1) }
        }
        if !connection.isOpen, schedule.isWaiting(on: index) { connect(index) }
    }

    private func connect(_ index: Int) {
        guard connecting.insert(index).inserted else { return }
        LoopActor.task { [self] in
            do throws(EventLogError) {
                try await connections[index].connect()
                connecting.remove(index)
                send(on: index)
            } catch {
                connecting.remove(index)
                refuse(on: index, error) { _ in true }
            }
        }
    }

    private func refuse(on index: Int, _ error: EventLogError, _ isRefused: (Call) -> Bool) {
        for append in schedule.remove(on: index, where: isRefused) { append.call.completion(.failure(error)) }
    }

    private func giveUpUnsent() {
        let now = LoopActor.now
        defer { lookedAt = now }
        // If the loop was held up, answers may have come that it has not read.
        guard now - lookedAt < 3_000_000 * LogWriters.lookEvery else { return }
        for index in connections.indices where schedule.isWaiting(on: index) {
            refuse(on: index, .unavailable("the database did not answer in time")) {
                now - $0.since > LogWriters.patienceUnsent
            }
        }
    }

    // MARK: Answers

    private func answered(
        _ transaction: AppendSchedule<Call>.Transaction, _ rows: [Rows], _ failure: PostgresError?
    ) {
        let connection = connections[transaction.connection]
        if let failure, failure.kind == .server {
            let guilty = rows.count < transaction.appends.count ? rows.count : nil
            let isLocked = failure.sqlState == .lockNotAvailable
            if let append = schedule.undone(transaction, by: guilty, isLocked: isLocked) {
                append.call.completion(connection.outcome(of: failure))
            }
        } else {
            schedule.ended(transaction)
            for (index, append) in transaction.appends.enumerated() {
                append.call.completion(failure.map(connection.outcome) ?? .success(rows[index]))
            }
        }
        if schedule.isWaiting { gather() }
    }
}
