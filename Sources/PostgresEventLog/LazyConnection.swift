internal import EventLog
internal import EventLoop
internal import Postgres

/// A connection that is made when it is first needed, and again after it was lost.
@LoopActor
final class LazyConnection {
    /// All statements run in this role, which can add to the log and cannot change it.
    private static let role = Statement("set_role", "SET ROLE tiffin_server")
    /// Nothing can be written, whoever the user is.
    private static let readOnly = Statement("read_only", "SET default_transaction_read_only = on")

    private let database: String
    private let name: String
    private let isReadOnly: Bool
    private var connection: PostgresConnection?
    /// A connection being made: everybody who needs one meanwhile waits for the same one.
    private var connecting: Task<Result<PostgresConnection, PostgresError>, Never>?

    /// The server's version on the last connection; nil before the first.
    private(set) var serverVersion: String?

    /// - Parameter isReadOnly: whether it is only for reading. Then the user needs no other right.
    init(_ database: String, name: String, isReadOnly: Bool = false) {
        self.database = database
        self.name = name
        self.isReadOnly = isReadOnly
    }

    /// Executes a statement. Connects first if there is no connection.
    func execute(_ statement: Statement, _ parameters: [Parameter]) async throws(EventLogError) -> Rows {
        guard let rows = try await executeUnlessViolated(statement, parameters) else {
            throw .unavailable("a row with this key exists")
        }
        return rows
    }

    /// The same; nil if the statement was refused because a row with its key exists.
    func executeUnlessViolated(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(EventLogError) -> Rows? {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try await connected()
        } catch {
            throw .unavailable("\(error)")
        }
        do throws(PostgresError) {
            return try await connection.execute(statement, parameters)
        } catch {
            switch error.kind {
            case .connection: throw .outcomeUnknown("\(error)")
            case .server where error.sqlState == .uniqueViolation: return nil
            case .server: throw .unavailable("\(error)")
            }
        }
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
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(database, applicationName: name)
            do throws(PostgresError) {
                _ = try await connection.execute(isReadOnly ? LazyConnection.readOnly : LazyConnection.role, [])
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
