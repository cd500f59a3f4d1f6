public import EventLoop

/// A connection that a program keeps: it is made when it is first needed, and again after it was lost.
///
/// A silent database makes callers wait only once. After the connection was lost for that reason, it is made anew in
/// the background, again and again. Callers that need it meanwhile are refused at once.
@LoopActor
public final class KeptConnection {
    /// How long to wait for the database. docs/reliability.md has the table of them, and why they add up.
    public struct Deadlines: Sendable {
        /// For a connection that can be used.
        public var connecting: Duration
        /// For the database to say anything while it is waited for; nil to wait as long as it takes.
        public var answer: Duration?
        /// For a lock; nil for three quarters of the time for an answer. The database itself ends the wait.
        public var lock: Duration?
        /// Whether the database itself ends a statement shortly before. Such a statement had no effect, for certain.
        public var endsStatements = false

        /// For a program that does one thing: nothing else waits.
        public static let none = Deadlines(connecting: .seconds(10))
        /// A batch is in doubt after this, and its commands wait for the doubt to end, too.
        public static let writing = Deadlines(connecting: hurry, answer: .seconds(2), endsStatements: true)
        /// Commands wait for what is read.
        public static let reading = Deadlines(connecting: hurry, answer: .milliseconds(3_500), endsStatements: true)
        /// No caller waits, and one statement may have much to do.
        public static let background = Deadlines(connecting: hurry, answer: .seconds(10))
        /// One statement may have all rows of a table to do.
        public static let rebuilding = Deadlines(connecting: hurry, answer: .seconds(600))

        private static let hurry = Duration.milliseconds(1_500)

        /// Deadlines without an end of statements.
        public init(connecting: Duration, answer: Duration? = nil) {
            self.connecting = connecting
            self.answer = answer
        }

        private init(connecting: Duration, answer: Duration?, endsStatements: Bool) {
            self.init(connecting: connecting, answer: answer)
            self.endsStatements = endsStatements
        }
    }

    /// How long to wait before a database that says nothing is tried again, in milliseconds.
    private static let retryInterval: UInt64 = 100
    private static let limits = Statement(
        "set_limits", "SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false)",
        [.text, .text])

    /// What the database's administrator sees.
    public let name: String
    /// They count from the next connection on.
    public var deadlines: Deadlines
    /// Learns that the database says nothing, and that the connection is there again.
    public var report: (@LoopActor (String) -> Void)?
    /// The server's version on the last connection; nil before the first.
    public private(set) var serverVersion: String?

    private let database: String
    private let rights: PostgresConnection.Rights
    private var connection: PostgresConnection?
    /// A connection being made: everybody who needs one meanwhile waits for the same one.
    private var attempt: Task<Result<PostgresConnection, PostgresError>, Never>?
    /// Why and since when the database counts as silent; nil where it does not.
    private var silence: (error: PostgresError, since: UInt64)?
    private var remaking: Task<Void, Never>?
    /// Whether a transaction has the connection, and who waits for it.
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - name: what the database's administrator sees.
    public init(
        _ database: String, name: String, rights: PostgresConnection.Rights, deadlines: Deadlines,
        report: (@LoopActor (String) -> Void)? = nil
    ) {
        self.database = database
        self.name = name
        self.rights = rights
        self.deadlines = deadlines
        self.report = report
    }

    /// The connection. It is made if there is none, unless the database says nothing.
    public func connected() async throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        if let silence { throw silence.error }
        return try await connect().get()
    }

    /// Executes a statement on the connection. To be used by those who run no transactions on it.
    public func execute(_ statement: Statement, _ parameters: [Parameter] = []) async throws(PostgresError) -> Rows {
        let connection = try await connected()
        do throws(PostgresError) {
            return try await connection.execute(statement, parameters)
        } catch {
            closeIfReadOnly(connection, error)
            throw error
        }
    }

    /// Whether there is a connection.
    public var isOpen: Bool { connection?.isOpen ?? false }

    /// Executes a statement once for each list of parameters, as one transaction, on the connection that there is. To be
    /// used as ``execute(_:_:)``.
    public func execute(
        _ statement: Statement, forEach lists: [[Parameter]],
        completion: @escaping PostgresConnection.TransactionCompletion
    ) {
        guard let connection else { preconditionFailure("\(name): not connected") }
        connection.execute(statement, forEach: lists) { [self] rows, failure in
            if let failure { closeIfReadOnly(connection, failure) }
            completion(rows, failure)
        }
    }

    /// Runs a transaction on the connection, after those that were asked for before.
    ///
    /// - Parameter patience: how long the database may say nothing, where that is longer than usual.
    public func transaction<Result: Sendable>(
        patience: Duration = .zero, _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        await take()
        defer { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
        let connection = try await connected()
        connection.answerDeadline = deadlines.answer.map { max($0, patience) }
        do {
            return try await connection.transaction(body)
        } catch {
            closeIfReadOnly(connection, error)
            throw error
        }
    }

    /// Takes the connection, once it is not another transaction's.
    private func take() async {
        let isFree = {
            if self.isTaken { return false }
            self.isTaken = true
            return true
        }
        await LoopActor.wait(unless: isFree) { waiting.append($0) }
    }

    /// A connection remembers that it was made to a database that is read-only. The next may lead to another.
    private func closeIfReadOnly(_ connection: PostgresConnection, _ error: any Error) {
        guard (error as? PostgresError)?.sqlState == .readOnly, connection.outstandingCount == 0 else { return }
        connection.close()
    }

    /// Closes the connection. It is made again when it is needed.
    public func close() {
        silence = nil
        remaking?.cancel()
        remaking = nil
        connection?.close()
        connection = nil
    }

    /// How it is, for `INFO`: whether it is there, how many statements wait, and for how long the database has said
    /// nothing.
    public var line: (name: String, value: String) {
        let state = silence != nil ? "silent" : connection?.isOpen == true ? "open" : "none"
        let silent = silence.map { (LoopActor.now - $0.since) / 1_000_000 } ?? connection?.silentMilliseconds ?? 0
        let word = name.split(separator: " ").dropFirst().joined()
        return (
            "connection_\(word)", "state=\(state),waiting=\(connection?.outstandingCount ?? 0),silent_ms=\(silent)"
        )
    }

    // MARK: Making it

    private func connect() async -> Result<PostgresConnection, PostgresError> {
        if let attempt { return await attempt.value }
        let task = Task { @LoopActor in await make() }
        attempt = task
        let result = await task.value
        return result
    }

    private func make() async -> Result<PostgresConnection, PostgresError> {
        defer { attempt = nil }
        let began = LoopActor.now
        do throws(PostgresError) {
            let made = try await PostgresConnection.connect(
                database, applicationName: name, connectTimeout: deadlines.connecting)
            // What is set at the beginning counts as connecting.
            let rest = deadlines.connecting - .nanoseconds(LoopActor.now - began)
            made.answerDeadline = deadlines.answer.map { min($0, max(rest, .milliseconds(100))) }
            do throws(PostgresError) {
                try await prepare(made)
            } catch {
                made.close()
                throw error
            }
            made.answerDeadline = deadlines.answer
            made.onLost = { [weak self] in self?.lost($0) }
            connection = made
            serverVersion = made.serverVersion
            if silence != nil { report?("\(name): connected again") }
            silence = nil
            return .success(made)
        } catch {
            // The database is away, and says so at once.
            if error.sqlState != .noAnswer { silence = nil }
            lost(error)
            return .failure(error)
        }
    }

    private func prepare(_ made: PostgresConnection) async throws(PostgresError) {
        let lock = deadlines.lock ?? deadlines.answer.map { $0 * 3 / 4 }
        if let lock {
            let statement = deadlines.endsStatements ? deadlines.answer.map { $0 * 7 / 8 } : nil
            _ = try await made.execute(
                KeptConnection.limits, [.text(lock.inMilliseconds), .text((statement ?? .zero).inMilliseconds)])
        }
        try await made.take(rights)
    }

    private func lost(_ error: PostgresError) {
        guard error.sqlState == .noAnswer, deadlines.answer != nil else { return }
        if silence == nil { report?("\(name): \(error); connecting again until it answers") }
        silence = (error, silence?.since ?? LoopActor.now)
        guard remaking == nil else { return }
        remaking = Task { @LoopActor [weak self] in
            while !Task.isCancelled, let self, silence != nil {
                if case .failure = await connect() {
                    await LoopTimer.pause(milliseconds: KeptConnection.retryInterval)
                }
            }
            if !Task.isCancelled { self?.remaking = nil }
        }
    }
}

extension Duration {
    /// As PostgreSQL's settings have it.
    fileprivate var inMilliseconds: String { "\(Int64(self / .milliseconds(1)))" }
}
