/// A database as its statements have it, each by its name: what the tables hold, and the functions of migrations/functions
/// written once more, in another language. `test_simulation.py` compares their answers with a real PostgreSQL's.
///
/// A copy is the database at a moment: what a backup, or a standby, has of it.
public struct Database {
    /// The partitions of the log.
    public internal(set) var partitions: [Partition]
    var fleet = FleetTables()

    /// A migrated database with an empty log.
    public init(partitions: Int) { self.partitions = Array(repeating: Partition(), count: partitions) }

    /// Carries messages out, as one transaction.
    ///
    /// - Parameters:
    ///   - refusal: why the database refuses it, if it does.
    ///   - now: the time, in nanoseconds.
    public mutating func answer(
        _ messages: Messages, on session: Session, at now: UInt64, refusing refusal: DatabaseError? = nil
    ) -> Results {
        let before = self
        var results: [QueryResult?] = []
        var hasFailed = false
        for message in messages.messages {
            if hasFailed {
                results += [QueryResult(.skipped), nil]
                continue
            }
            do throws(DatabaseError) {
                if let refusal { throw refusal }
                switch message {
                case .prepare(let name):
                    session.prepared.insert(name)
                    results.append(QueryResult(.done))
                case .execute(let name, let parameters):
                    guard session.prepared.contains(name) else {
                        throw DatabaseError("26000", "prepared statement \"\(name)\" does not exist")
                    }
                    let table = try execute(name, parameters, on: session, at: now)
                    results.append(table.map { QueryResult($0) } ?? QueryResult(.done))
                }
            } catch {
                hasFailed = true
                results.append(QueryResult(error))
            }
            results.append(nil)
        }
        if hasFailed { self = before }
        return Results(results: results + [QueryResult(.sync)])
    }

    /// nil for a statement without rows.
    private mutating func execute(
        _ name: String, _ values: Parameters, on session: Session, at now: UInt64
    ) throws(DatabaseError) -> Table? {
        switch name {
        case "set_limits":
            session.lockTimeout = UInt64(values.text(1)!)!
            return Table(
                columns: ["set_config", "set_config"], rows: [[.text(values.text(1)!), .text(values.text(2)!)]])
        case "set_role", "read_only": return nil
        case "partitioning":
            return Table(
                columns: ["count", "placement", "database"],
                rows: [[.int2(Int64(partitions.count)), .text("slots"), .null]])
        case "epochs": return Table(columns: ["epoch"], rows: partitions.map { [.int8($0.epoch)] })
        case "heads":
            let rows: [[Value]] = partitions.enumerated().prefix(Int(values.int(1)!)).map {
                [.int2(Int64($0)), .int8($1.position), .bytes($1.digest)]
            }
            return Table(columns: ["partition", "position", "digest"], rows: rows)
        case "renew_server":
            return fleet.renew(
                values.text(1)!, values.text(2)!, values.bytes(3)!, joins: values.bool(4), known: values.text(5),
                partitions: partitions.count, at: now)
        case "change_leases":
            return fleet.change(values.ints(1)!, values.ints(2)!, values.texts(3)!)
        case "leave_fleet":
            fleet.leave(values.text(1)!)
            return Table(columns: ["leave_fleet"], rows: [[.text("")]])
        default: break
        }
        guard let number = values.int(1), partitions.indices.contains(Int(number)) else {
            return Table(columns: [])
        }
        return try partitions[Int(number)].execute(name, values)
    }
}
