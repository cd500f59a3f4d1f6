// Which servers there are, and who decides what, as the tables in PostgreSQL say.

package import EventLoop
package import Fleet
internal import Postgres

/// The fleet in the schema `tiffin` of a database, as one server follows it and changes it.
@LoopActor
package final class PostgresFleet {
    /// How long the database may take: a lease ends a little later.
    private static let patience = Duration.seconds(2)

    private let kept: KeptConnection
    /// Whether the server has renewed before.
    private var hasJoined = false
    /// The leases as they were last, and the state in which they were.
    private var known: (state: String, leases: [Lease])?

    /// The fleet in a migrated database.
    ///
    /// - Parameter report: learns that the database says nothing.
    package init(_ database: String, report: (@LoopActor (String) -> Void)? = nil) {
        kept = KeptConnection(
            database, name: "tiffin fleet", rights: .role("tiffin_server"),
            deadlines: KeptConnection.Deadlines(connecting: PostgresFleet.patience, answer: PostgresFleet.patience),
            report: report)
    }

    /// How its connection is, for `INFO`.
    package var connectionLine: (name: String, value: String) { kept.line }

    /// Says that a server is there; returns who else is, and all leases, as of the same moment. What in the tables makes
    /// no sense is left out.
    ///
    /// The first time, servers that had its address are removed, and those that were silent for a minute.
    ///
    /// Throws a `PostgresError`. Then it is not known whether the server renewed.
    package func renew(_ me: FleetServer) async throws -> FleetView {
        let rows = try await execute(
            Statements.renew,
            [
                .text(me.id.text), .text(me.address), .bytes(me.secret), .bool(!hasJoined),
                known.map { .text($0.state) } ?? .null,
            ])
        hasJoined = true
        var view = FleetView(servers: [], leases: [])
        var state: String?
        for row in rows {
            if let lease = Lease(row, holder: "id") {
                view.leases.append(lease)
            } else {
                state = row["state"]
                if let server = FleetServer(row) { view.servers.append(server) }
            }
        }
        if let known, known.state == state { view.leases = known.leases }
        known = state.map { ($0, view.leases) }
        return view
    }

    /// Tries to change leases, and returns those that were named, as they are now: whoever was faster has them.
    ///
    /// Throws a `PostgresError`. Then it is not known what has changed, and the next renewal tells.
    package func change(_ changes: [LeaseChange]) async throws -> [Lease] {
        let changes = changes.filter { Int16(exactly: $0.partition) != nil }
        guard !changes.isEmpty else { return [] }
        let rows = try await execute(
            Statements.change,
            [
                .array(changes.map { Int16($0.partition) }), .array(changes.map(\.term)),
                .array(changes.map(\.holder.text)),
            ])
        return rows.compactMap { Lease($0, holder: "server") }
    }

    /// Takes a server out of the fleet, and frees its leases.
    ///
    /// Throws a `PostgresError`. Then the others notice within three seconds.
    package func leave(_ me: ServerID) async throws {
        _ = try await execute(Statements.leave, [.text(me.text)])
    }

    /// Closes the connection.
    package func close() { kept.close() }

    private func execute(_ statement: Statement, _ parameters: [Parameter]) async throws(PostgresError) -> Rows {
        do throws(PostgresError) {
            return try await kept.execute(statement, parameters)
        } catch {
            // One that was lost is made anew anyway; another may be refused for what the connection remembers.
            if error.kind != .connection { kept.close() }
            throw error
        }
    }
}

extension FleetServer {
    /// The server in a row; nil where there is none, or its id is none.
    fileprivate init?(_ row: Row) {
        guard let id = (row["id"] as String?).flatMap({ ServerID($0) }), let address: String = row["address"],
            let secret: [UInt8] = row["secret"], let silence = (row["silence"] as Int64?).map({ UInt64(max(0, $0)) })
        else { return nil }
        self.init(id: id, address: address, secret: secret, silence: silence)
    }
}

extension Lease {
    /// The lease in a row; nil where there is none. A holder whose id is none is nobody.
    fileprivate init?(_ row: Row, holder: String) {
        guard let partition: Int = row["partition"], let term: Int64 = row["term"] else { return nil }
        self.init(partition: partition, holder: (row[holder] as String?).flatMap { ServerID($0) }, term: term)
    }
}

private enum Statements {
    static let renew = Statement(
        "renew_server",
        """
        SELECT id, address, secret, silence, state, partition, term FROM tiffin.renew_server($1, $2, $3, $4, $5)
        """, [.text, .text, .bytea, .bool, .text])

    static let change = Statement(
        "change_leases", "SELECT partition, server, term FROM tiffin.change_leases($1, $2, $3)",
        [.int2Array, .int8Array, .textArray])

    static let leave = Statement("leave_fleet", "SELECT tiffin.leave_fleet($1)", [.text])
}
