public import EventLoop

/// Several statements that take effect together or not at all; see `PostgresConnection.transaction`.
@LoopActor
public final class Transaction {
    private let connection: PostgresConnection
    private var isOpen = true

    fileprivate init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Executes a statement within the transaction.
    public func execute(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) async throws(PostgresError) -> Rows {
        precondition(isOpen, "the transaction has ended")
        return try await connection.send(statement, parameters)
    }

    /// Runs a script within the transaction, which it must not end. Nothing may be outstanding.
    public func runScript(_ sql: String) async throws(PostgresError) {
        precondition(isOpen, "the transaction has ended")
        try await connection.sendScript(sql)
    }

    /// Passes the rows of a query without parameters to the body, many at a time, in the background. While the body
    /// has some, the next are on their way. Nothing else may be executed meanwhile.
    ///
    /// - Parameter types: those of the columns: `int4`, `int8`, or ones that are sent as `text` is.
    /// - Throws: a `PostgresError` if the query fails, or if a value is null or of another type; what the body throws.
    @concurrent
    public nonisolated func copy(
        _ query: String, _ types: [PostgresType], _ body: (CopiedRows) throws -> Void
    ) async throws {
        let copy = await begin(query)
        do {
            var isFirst = true
            while let page = try await copy.next() {
                try body(CopiedRows(page, types, isFirst: isFirst))
                isFirst = false
            }
        } catch {
            // The connection can be used again only when nothing of this is left on it.
            await copy.discard()
            throw error
        }
    }

    private func begin(_ query: String) -> CopyOut {
        precondition(isOpen, "the transaction has ended")
        return connection.sendCopy(query)
    }

    fileprivate func end() { isOpen = false }
}

extension PostgresConnection {
    /// Runs `body` between `BEGIN` and `COMMIT`; when it throws, rolls back and throws its error.
    ///
    /// Until this returns, only the transaction may use the connection: executing a statement on the connection
    /// itself traps. Statements sent before stay outside.
    public func transaction<Result: Sendable>(
        _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        precondition(!isReserved, "a transaction has this connection")
        isReserved = true
        defer { isReserved = false }
        _ = try await send(.begin, [])
        do {
            let transaction = Transaction(self)
            defer { transaction.end() }
            let result = try await body(transaction)
            // After a statement that failed, and whose error `body` did not throw, COMMIT rolls back.
            guard try await send(.commit, []).commandTag == "COMMIT" else {
                throw PostgresError(
                    .server, .inFailedTransaction, "a statement of the transaction failed: it was rolled back"
                )
            }
            return result
        } catch {
            // A connection whose transaction does not end is useless.
            if (try? await send(.rollback, [])) == nil { close() }
            throw error
        }
    }
}

extension Statement {
    fileprivate static let begin = Statement("begin", "BEGIN")
    fileprivate static let commit = Statement("commit", "COMMIT")
    fileprivate static let rollback = Statement("rollback", "ROLLBACK")
}
