internal import EventLog
internal import EventLoop
internal import Postgres

/// A connection that is made when it is first needed, and again after it was lost.
@LoopActor
final class LazyConnection {
    /// How long to wait for the database, where clients wait for what it says.
    struct Patience {
        /// For connecting to it.
        var connecting = Duration.milliseconds(1_500)
        /// For it to say anything.
        var answer: Duration

        /// A batch is in doubt after this, and commands wait for the doubt to end, too.
        static let writing = Patience(answer: .seconds(2))
        static let reading = Patience(answer: .seconds(4))
    }

    /// All statements run in this role, which can add to the log and cannot change it.
    private static let role = "tiffin_server"
    /// A statement that the database itself ends has no effect, for certain; so it ends them before patience does.
    private static let limits = Statement(
        "set_limits", "SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false)",
        [.text, .text])
    /// Nothing can be written, whoever the user is.
    private static let readOnly = Statement("read_only", "SET default_transaction_read_only = on")

    private let database: String
    private let name: String
    private let isReadOnly: Bool
    private let patience: Patience?
    private let hasRoom: @LoopActor () -> Bool
    /// Where somebody listens, that is who learns the whole of what goes wrong. Callers learn what clients may know.
    private var report: DatabaseTrouble.Report?
    private var connection: PostgresConnection?
    /// A connection being made: everybody who needs one meanwhile waits for the same one.
    private var connecting: Task<Result<PostgresConnection, PostgresError>, Never>?

    /// The server's version on the last connection; nil before the first.
    private(set) var serverVersion: String?

    /// - Parameters:
    ///   - isReadOnly: whether it is only for reading. Then the user needs no other right.
    ///   - patience: nil to wait as long as a statement takes.
    ///   - hasRoom: whether the database's disk has room for what needs it.
    ///   - report: see ``report(to:)``.
    init(
        _ database: String, name: String, isReadOnly: Bool = false, patience: Patience? = nil,
        hasRoom: @escaping @LoopActor () -> Bool = { true }, report: (@LoopActor (String) -> Void)? = nil
    ) {
        self.database = database
        self.name = name
        self.isReadOnly = isReadOnly
        self.patience = patience
        self.hasRoom = hasRoom
        if let report { self.report(to: report) }
    }

    /// From now on the whole of what goes wrong is told here, and errors have what clients may know.
    func report(to tell: @escaping @LoopActor (String) -> Void) { report = DatabaseTrouble.Report(tell) }

    /// Executes a statement. Connects first if there is no connection.
    ///
    /// - Parameter needsRoom: whether it adds to the database. On a full disk it is not sent: the database could end, and
    ///   then nothing can be read either.
    func execute(
        _ statement: Statement, _ parameters: [Parameter], needsRoom: Bool = false
    ) async throws(EventLogError) -> Rows {
        guard let rows = try await executeUnlessViolated(statement, parameters, needsRoom: needsRoom) else {
            throw .unavailable(DatabaseTrouble.damaged)
        }
        return rows
    }

    /// The same; nil if the statement was refused because a row with its key exists.
    func executeUnlessViolated(
        _ statement: Statement, _ parameters: [Parameter], needsRoom: Bool = false
    ) async throws(EventLogError) -> Rows? {
        guard !needsRoom || hasRoom() else { throw .unavailable(DatabaseTrouble.full) }
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try await connected()
        } catch {
            throw .unavailable(told(error))
        }
        do throws(PostgresError) {
            return try await connection.execute(statement, parameters)
        } catch {
            // A connection remembers that it was made to a database that is read-only.
            if error.sqlState == .readOnly, connection.outstandingCount == 0 { connection.close() }
            switch error.kind {
            case .connection: throw .outcomeUnknown(told(error))
            case .server where error.sqlState == .uniqueViolation: return nil
            case .server where error.sqlState == .forkedLog: throw .forked(DatabaseTrouble.forked)
            case .server: throw .unavailable(told(error))
            }
        }
    }

    /// What the caller learns of an error.
    private func told(_ error: PostgresError) -> String {
        let trouble = DatabaseTrouble(error)
        guard report != nil else { return trouble.whole }
        report?.take(trouble, name)
        return trouble.plain
    }

    func close() {
        connection?.close()
        connection = nil
    }

    private func connected() async throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        let attempt = connecting ?? Task { await connect() }
        connecting = attempt
        return try await attempt.value.get()
    }

    private func connect() async -> Result<PostgresConnection, PostgresError> {
        defer { connecting = nil }
        // While the log is being opened, no client waits.
        let isHurried = report != nil
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(
                database, applicationName: name,
                connectTimeout: (isHurried ? patience?.connecting : nil) ?? .seconds(10))
            connection.answerDeadline = patience?.answer
            do throws(PostgresError) {
                if let patience {
                    let (lock, statement) = (patience.answer * 3 / 4, patience.answer * 7 / 8)
                    _ = try await connection.execute(
                        LazyConnection.limits, [.text(lock.inMilliseconds), .text(statement.inMilliseconds)])
                }
                if isReadOnly {
                    _ = try await connection.execute(LazyConnection.readOnly)
                } else {
                    try await connection.take(role: LazyConnection.role)
                }
            } catch {
                connection.close()
                throw error
            }
            self.connection = connection
            serverVersion = connection.serverVersion
            return .success(connection)
        } catch {
            return .failure(error)
        }
    }
}

extension Duration {
    /// As PostgreSQL's settings have it.
    fileprivate var inMilliseconds: String { "\(Int64(self / .milliseconds(1)))" }
}

extension SQLState {
    /// What `tiffin.append` says of a point that the log does not have.
    fileprivate static let forkedLog = SQLState(rawValue: "TF001")
}
