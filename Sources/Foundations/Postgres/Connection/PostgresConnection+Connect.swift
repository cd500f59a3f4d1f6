internal import CLibPQ
internal import EventLoop

extension PostgresConnection {
    /// Connects to a server. If the address has several hosts, the one that last answered is tried first, and each gets
    /// its share of the time.
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
        guard let hosts = DatabaseHosts(address) else {
            return try await connect(address, [], applicationName, connectTimeout, statementTimeout)
        }
        var failure = PostgresError(.connection, .noAnswer, "no host answered")
        var left = connectTimeout
        let order = hosts.order(for: address)
        for (tried, host) in order.enumerated() {
            let began = LoopActor.now
            do throws(PostgresError) {
                let connection = try await connect(
                    address, hosts.settings[host], applicationName, left / (order.count - tried), statementTimeout)
                DatabaseHosts.remember(host, for: address)
                return connection
            } catch {
                failure = error
            }
            left = max(.milliseconds(1), left - .nanoseconds(LoopActor.now - began))
        }
        throw failure
    }

    /// - Parameter overriding: settings that count instead of those of the address.
    private static func connect(
        _ address: String, _ overriding: [(name: String, value: String)], _ applicationName: String,
        _ connectTimeout: Duration, _ statementTimeout: Duration?
    ) async throws(PostgresError) -> PostgresConnection {
        let settings =
            [
                ("fallback_application_name", applicationName),
                ("client_encoding", "UTF8"),
                // A peer that vanished silently is noticed within a minute, idle or not.
                ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
                ("tcp_user_timeout", "60000"),
                ("dbname", address),
            ] + overriding.map { ($0.name, $0.value) }
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
