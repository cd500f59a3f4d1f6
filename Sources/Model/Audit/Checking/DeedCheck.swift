internal import Domain
internal import EventLog

/// The deeds beside the log, as the log records them, to be compared with the tables that they changed.
struct DeedCheck: Sendable {
    private var forgotten: [Identifier: Int64] = [:]
    /// Users who were not removed, and where they were put last.
    private var users: [Identifier: (user: Deed.User, position: Int64)] = [:]
    private var relays: Set<Identifier> = []

    mutating func take(_ deed: Deed.Event, _ event: DecodedEvent) {
        let id = event.stream.id
        switch deed {
        case .customerForgotten: forgotten[id] = event.position
        case .userPut(let user): users[id] = (user, event.position)
        case .userRemoved: users[id] = nil
        case .relayPut: relays.insert(id)
        case .relayMoved, .relaySkipped: break
        }
    }

    /// What the tables say otherwise.
    func findings(_ stored: StoredDeeds, partition: Int) -> Findings {
        var findings = Findings()
        func found(_ subject: StreamName, _ position: Int64?, _ message: String) {
            findings.add(
                Finding(.difference, partition: partition, position: position, subject: "\(subject)", message))
        }
        for (customer, position) in forgotten.sorted(by: { $0.value < $1.value }) {
            let marks = stored.forgotten[customer] ?? 0
            guard marks < stored.partitionCount else { continue }
            found(
                StreamName(.customer, customer), position,
                "was forgotten, and tiffin.customer_keys says so in \(marks) of \(stored.partitionCount) partitions")
        }
        for customer in stored.forgotten.keys.sorted() where forgotten[customer] == nil {
            found(StreamName(.customer, customer), nil, "is forgotten by tiffin.customer_keys, and not by the log")
        }
        for (name, (user, position)) in users.sorted(by: { $0.value.position < $1.value.position }) {
            let stream = StreamName(.user, name)
            guard let row = stored.users[name] else {
                found(stream, position, "was put, and is not in tiffin.users")
                continue
            }
            if row.words != user.words {
                found(stream, position, "is \(row.words) by tiffin.users, and \(user.words) by the log")
            }
        }
        for (name, row) in stored.users.sorted(by: { $0.key < $1.key }) where users[name] == nil {
            found(StreamName(.user, name), nil, "is \(row.words) by tiffin.users, and not there by the log")
        }
        for name in relays.sorted() {
            guard let places = stored.relays[name] else {
                found(StreamName(.relay, name), nil, "was put, and is not in tiffin.relays")
                continue
            }
            if places < stored.partitionCount {
                found(
                    StreamName(.relay, name), nil,
                    "has no place in \(stored.partitionCount - places) of \(stored.partitionCount) partitions: "
                        + "tiffin.relay_cursors has lost it")
            }
        }
        for name in stored.relays.keys.sorted() where !relays.contains(name) {
            found(StreamName(.relay, name), nil, "is in tiffin.relays, and not there by the log")
        }
        return findings
    }
}

extension Deed.User {
    /// What it is, but for what was changed last.
    var words: String {
        let confined = grants.isEmpty ? "" : " only \(grants.map(\.rawValue).joined(separator: " "))"
        return "\(role)\(confined)\(isEnabled ? "" : ", disabled")"
    }
}
