/// `tiffin.servers` and `tiffin.leases`, as docs/fleet.md and migrations/functions/fleet.sql have them.
struct FleetTables {
    /// How long the row of a silent server is kept when another joins, in nanoseconds.
    private static let keeping: UInt64 = 60_000_000_000

    private struct Server {
        var (id, address): (String, String)
        var secret: [UInt8]
        var seenAt: UInt64
    }

    private var servers: [Server] = []
    private var leases: [(holder: String?, term: Int64)] = []

    /// As `tiffin.renew_server` says.
    mutating func renew(
        _ id: String, _ address: String, _ secret: [UInt8], joins: Bool, known: String?, partitions: Int, at now: UInt64
    ) -> Table {
        let server = Server(id: id, address: address, secret: secret, seenAt: now)
        if let index = servers.firstIndex(where: { $0.id == id }) {
            servers[index] = server
        } else {
            if joins {
                servers.removeAll { $0.address == address || now - min(now, $0.seenAt) > FleetTables.keeping }
            }
            servers.append(server)
            while leases.count < partitions { leases.append((nil, 0)) }
        }
        let state = leases.map { "\($0.holder ?? ""):\($0.term)" }.joined(separator: ",")
        var table = Table(columns: ["id", "address", "secret", "silence", "state", "partition", "term"])
        table.rows = servers.map { server in
            let silence = Int64(now - min(now, server.seenAt)) / 1_000_000
            return [
                .text(server.id), .text(server.address), .bytes(server.secret), .int8(silence), .text(state), .null,
                .null,
            ]
        }
        if state != known {
            table.rows += leases.enumerated().map { partition, lease in
                [.optional(lease.holder), .null, .null, .null, .null, .int2(Int64(partition)), .int8(lease.term)]
            }
        }
        return table
    }

    /// As `tiffin.change_leases` says.
    mutating func change(_ partitions: [Int64], _ terms: [Int64], _ holders: [String]) -> Table {
        for ((partition, term), holder) in zip(zip(partitions, terms), holders)
        where leases.indices.contains(Int(partition)) && leases[Int(partition)].term == term {
            leases[Int(partition)] = (holder, term + 1)
        }
        let rows: [[Value]] = Set(partitions).sorted().filter { leases.indices.contains(Int($0)) }.map {
            [.int2($0), .optional(leases[Int($0)].holder), .int8(leases[Int($0)].term)]
        }
        return Table(columns: ["partition", "server", "term"], rows: rows)
    }

    /// As `tiffin.leave_fleet` says.
    mutating func leave(_ id: String) {
        for index in leases.indices where leases[index].holder == id {
            leases[index] = (nil, leases[index].term + 1)
        }
        servers.removeAll { $0.id == id }
    }
}
