internal import CLibPQ

extension PostgresConnection {
    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - address: `postgres://…`, or libpq's keywords and values. It overrides the parameters and the keepalive
    ///     settings here, except for `statementTimeout`.
    ///   - applicationName: What the server's administrator sees.
    ///   - connectTimeout: The time for all of it, however many hosts have to be tried.
    ///   - statementTimeout: The time after which the server cancels a statement; nil for the server's own setting.
    public static func connect(
        _ address: String, applicationName: String = "tiffin", connectTimeout: Duration = .seconds(10),
        statementTimeout: Duration? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        guard isWellFormed(address) else {
            // libpq's own message would quote the address, password included.
            throw PostgresError(
                .connection, .cannotConnect,
                "the database's address is neither a postgres:// URL nor a list of keyword=value")
        }
        let settings = [
            ("fallback_application_name", applicationName),
            ("client_encoding", "UTF8"),
            // A peer that vanished silently is noticed within a minute, idle or not.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"),
            ("dbname", address),
        ]
        let started = withCStrings(settings.map(\.0)[...]) { names in
            withCStrings(settings.map(\.1)[...]) { values in PQconnectStartParams(names, values, 1) }
        }
        guard let raw = started else { throw PostgresError(.connection, .cannotConnect, "out of memory") }
        let connection: PostgresConnection
        do throws(PostgresError) {
            // Notices are dropped; libpq would print them.
            PQsetNoticeReceiver(raw, { _, _ in }, nil)
            // Messages have the server's code then. Nothing else of libpq's gives it away before there is a connection.
            PQsetErrorVerbosity(raw, PQERRORS_VERBOSE)
            try await ConnectAttempt(raw).finish(within: connectTimeout)
            connection = try PostgresConnection(owning: raw)
        } catch {
            PQfinish(raw)
            throw error
        }
        guard let statementTimeout else { return connection }
        do throws(PostgresError) {
            try await connection.runScript("SET statement_timeout = \(statementTimeout.wholeMilliseconds)")
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    private static func isWellFormed(_ address: String) -> Bool {
        guard let options = PQconninfoParse(address, nil) else { return false }
        PQconninfoFree(options)
        return true
    }
}

private func withCStrings<Result>(
    _ strings: ArraySlice<String>, _ gathered: [UnsafePointer<CChar>?] = [],
    _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    guard let first = strings.first else { return body(gathered + [nil]) }
    return first.withCString { withCStrings(strings.dropFirst(), gathered + [$0], body) }
}
