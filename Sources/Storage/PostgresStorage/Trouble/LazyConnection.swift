internal import EventLog
internal import EventLoop
internal import Postgres

/// The connection of a log: what goes wrong on it is told as the log tells it.
@LoopActor
final class LazyConnection {
    private let kept: KeptConnection
    /// The deadlines from when clients wait; nil to wait as long as a statement takes.
    private let deadlines: KeptConnection.Deadlines?
    private let hasRoom: @LoopActor () -> Bool
    private var trouble = DatabaseTrouble(listener: nil)

    /// The server's version on the last connection; nil before the first.
    var serverVersion: String? { kept.serverVersion }

    var line: (name: String, value: String) { kept.line }

    /// - Parameters:
    ///   - isReadOnly: whether it is only for reading. Then the user needs no other right.
    ///   - deadlines: nil to wait as long as a statement takes.
    ///   - hasRoom: whether the database's disk has room for what needs it.
    ///   - report: see ``report(to:)``.
    init(
        _ database: String, name: String, isReadOnly: Bool = false, deadlines: KeptConnection.Deadlines? = nil,
        hasRoom: @escaping @LoopActor () -> Bool = { true }, report: (@LoopActor (String) -> Void)? = nil
    ) {
        // While a log is being opened, no client waits: all statements have their limits, and connecting has time.
        var first = deadlines ?? .none
        first.connecting = KeptConnection.Deadlines.none.connecting
        // The role can add to the log and cannot change it.
        kept = KeptConnection(
            database, name: name, rights: isReadOnly ? .reading : .role("tiffin_server"), deadlines: first)
        self.deadlines = deadlines
        self.hasRoom = hasRoom
        if let report { self.report(to: report) }
    }

    /// From now on `tell` learns the whole of each failure, and errors say only what clients may know.
    func report(to tell: @escaping @LoopActor (String) -> Void) {
        trouble = DatabaseTrouble(listener: tell)
        kept.report = tell
        if let deadlines { kept.deadlines = deadlines }
    }

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
        try await connect()
        do throws(PostgresError) {
            return try await kept.execute(statement, parameters)
        } catch {
            return try outcome(of: error).get()
        }
    }

    var isOpen: Bool { kept.isOpen }

    /// Connects if there is no connection.
    func connect() async throws(EventLogError) {
        do throws(PostgresError) {
            _ = try await kept.connected()
        } catch {
            // Nothing was sent.
            throw .unavailable(told(error))
        }
    }

    /// Executes a statement once for each list of parameters, as one transaction, on the connection that there is.
    func execute(
        _ statement: Statement, forEach lists: [[Parameter]],
        completion: @escaping PostgresConnection.TransactionCompletion
    ) {
        kept.execute(statement, forEach: lists, completion: completion)
    }

    /// What an error of a statement that was sent means to the caller; nil in place of rows if a row with its key exists.
    func outcome(of error: PostgresError) -> Result<Rows?, EventLogError> {
        switch error.kind {
        case .connection: .failure(.outcomeUnknown(told(error)))
        case .server where error.sqlState == .uniqueViolation: .success(nil)
        case .server where error.sqlState == .forkedLog: .failure(.forked(DatabaseTrouble.forked))
        case .server where error.sqlState == .movedPartition: .failure(.moved)
        case .server: .failure(.unavailable(told(error)))
        }
    }

    /// What the caller learns of an error. That the database says nothing is told where the connection is kept.
    private func told(_ error: PostgresError) -> String {
        trouble.told(error, on: kept.name, isKnown: error.sqlState == .noAnswer)
    }

    /// What the caller learns of what went wrong beside the database.
    ///
    /// - Parameter words: what clients may know of it.
    func told(_ error: String, as words: String) -> String { trouble.told(error, as: words, on: kept.name) }

    func close() { kept.close() }
}

extension SQLState {
    /// What `tiffin.append` says of a point that the log does not have.
    fileprivate static let forkedLog = SQLState(rawValue: "TF001")
    /// What it says of a partition that lives in another database, or is on its way.
    fileprivate static let movedPartition = SQLState(rawValue: "TF002")
}

extension EventLogError {
    /// The partition is not in the database that was asked.
    static let moved = EventLogError.unavailable(DatabaseTrouble.moved)
}
