internal import Application
internal import EventLog
internal import EventLoop
internal import Fleet
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// What clients of Redis Cluster ask before they send a command to the server that has its key's slot: the one that
/// decides its partition. Once a client has asked, it is told where to send what another server decides; for other
/// clients, such calls are forwarded.
enum ClusterCommands {
    static let all = cluster + modes

    private static let lastSlot = Int64(HashSlot.count - 1)

    private static let cluster: [LineCommand] = [
        LineCommand("CLUSTER SLOTS", .server, "Returns which server has which slots.") { _ in
            { session, _ in
                session.followsSlots = true
                let nodes = session.nodes
                let ranges = nodes.flatMap { node in node.slots.map { ($0, node) } }
                session.reply { replies in
                    replies.array(ranges.count)
                    for (slots, node) in ranges {
                        replies.array(3)
                        replies.integer(Int64(slots.lowerBound))
                        replies.integer(Int64(slots.upperBound))
                        replies.array(4)
                        replies.bulk(node.host)
                        replies.integer(Int64(node.port))
                        replies.bulk(node.id)
                        // Other ways to reach it.
                        replies.map(0)
                    }
                }
            }
        },
        LineCommand("CLUSTER SHARDS", .server, "Describes the servers, with the slots that each of them has.") { _ in
            { session, _ in
                session.followsSlots = true
                let nodes = session.nodes
                session.reply { replies in
                    replies.array(nodes.count)
                    for node in nodes {
                        replies.map(2)
                        replies.bulk("slots")
                        replies.array(2 * node.slots.count)
                        for slot in node.slots.flatMap({ [$0.lowerBound, $0.upperBound] }) {
                            replies.integer(Int64(slot))
                        }
                        replies.bulk("nodes")
                        replies.array(1)
                        replies.append(node)
                    }
                }
            }
        },
        LineCommand("CLUSTER NODES", .server, "Describes the servers, one per line.") { _ in
            { session, _ in
                session.followsSlots = true
                let lines = session.nodes.map(\.line).joined()
                session.reply { $0.verbatim(lines) }
            }
        },
        LineCommand("CLUSTER INFO", .server, "Describes the servers of this log as Redis Cluster describes itself.") {
            _ in
            { session, _ in
                let nodes = session.nodes
                let facts = [
                    ("cluster_state", "ok"), ("cluster_slots_assigned", "\(HashSlot.count)"),
                    ("cluster_slots_ok", "\(HashSlot.count)"), ("cluster_slots_pfail", "0"),
                    ("cluster_slots_fail", "0"), ("cluster_known_nodes", "\(nodes.count)"),
                    ("cluster_size", "\(nodes.count { !$0.slots.isEmpty })"),
                    ("cluster_current_epoch", "0"), ("cluster_my_epoch", "0"), ("cluster_stats_messages_sent", "0"),
                    ("cluster_stats_messages_received", "0"), ("total_cluster_links_buffer_limit_exceeded", "0"),
                ]
                session.reply { $0.verbatim(facts.map { "\($0):\($1)\r\n" }.joined()) }
            }
        },
        LineCommand("CLUSTER MYID", .server, "Returns the id of the server, another one after each start.") { _ in
            { session, _ in
                let id = session.server.nodeID
                session.reply { $0.bulk(id) }
            }
        },
        LineCommand("CLUSTER KEYSLOT", .server, "Returns the slot of a key: of its {tag} if it has one.") {
            parameters in
            let key = parameters.required("key", .bytes)
            return { session, call throws(Failure) in
                let slot = HashSlot(of: try call[key].bytes)
                session.reply { $0.integer(Int64(slot.number)) }
            }
        },
        LineCommand(
            "CLUSTER COUNTKEYSINSLOT", .server, role: .admin,
            "Returns how many outlets, carts and orders are in a slot; it looks at all outlets."
        ) { parameters in
            let slot = parameters.required("slot", .wholeNumber.accepting("from 0 to \(lastSlot)"))
            return { session, call throws(Failure) in
                let slot = try call[slot]
                guard (0...lastSlot).contains(slot) else {
                    throw Failure(.error, "Invalid slot: it must be from 0 to \(lastSlot)")
                }
                let count = session.server.service.keyCount(inSlot: Int(slot))
                session.reply { $0.integer(Int64(count)) }
            }
        },
    ]

    // MARK: What a connection says of itself

    private static let modes: [LineCommand] = [
        LineCommand("ASKING", .connection, "Says that the next command may concern a slot that is moving.") { _ in
            { session, _ in
                session.followsSlots = true
                session.reply { $0.simpleString("OK") }
            }
        },
        accepted("READONLY", "Allows reads from replicas; they are allowed without it."),
        accepted("READWRITE", "Ends READONLY."),
    ]

    private static func accepted(_ name: String, _ summary: String) -> LineCommand {
        LineCommand(name, .connection, summary) { _ in { session, _ in session.reply { $0.simpleString("OK") } } }
    }
}

/// A server as a client of Redis Cluster knows it.
private struct Node {
    let id: String
    let host: String
    let port: Int
    let usesTLS: Bool
    let isMyself: Bool
    /// The slots of the partitions that it decides.
    let slots: [ClosedRange<Int>]

    /// As `CLUSTER NODES` has it. There is no bus between servers; port 0 says so.
    var line: String {
        let flags = isMyself ? "myself,master" : "master"
        let ranges = slots.map { " " + ($0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)") }
        return "\(id) \(host):\(port)@0 \(flags) - 0 0 0 connected\(ranges.joined())\n"
    }
}

extension Session {
    /// Every server, this one first.
    fileprivate var nodes: [Node] {
        let (service, usesTLS) = (server.service, server.configuration.tls != nil)
        let partitioning = service.partitioning
        guard let member = service.member, partitioning.rule == .slots else {
            return [myself([0...HashSlot.count - 1])]
        }
        var slots: [ServerID: [ClosedRange<Int>]] = [:]
        for partition in 0..<partitioning.count {
            let owner = member.owner(of: partition)?.id ?? member.server.id
            let range = partitioning.slots(of: partition)
            var own = slots[owner] ?? []
            let begin = own.last?.upperBound == range.lowerBound - 1 ? own.removeLast() : range
            own.append(begin.lowerBound...range.upperBound)
            slots[owner] = own
        }
        let others = member.others.compactMap { other -> Node? in
            guard let address = ServerAddress(other.address) else { return nil }
            return Node(
                id: other.id.text, host: address.host, port: Int(address.port), usesTLS: usesTLS, isMyself: false,
                slots: slots[other.id] ?? [])
        }
        return [myself(slots[member.server.id] ?? [])] + others
    }

    /// This server, at the address by which the client has reached it, and there at the port that is its own.
    private func myself(_ slots: [ClosedRange<Int>]) -> Node {
        let address = ServerAddress(connection.localAddress)
        let mapped = "::ffff:"
        let host = address.map { $0.host.hasPrefix(mapped) ? String($0.host.dropFirst(mapped.count)) : $0.host }
        return Node(
            id: server.nodeID, host: host ?? server.configuration.host,
            port: address.flatMap { $0.port == server.configuration.sharedPort ? nil : Int($0.port) } ?? server.port,
            usesTLS: server.configuration.tls != nil, isMyself: true, slots: slots)
    }
}

extension ReplyBuffer {
    fileprivate mutating func append(_ node: Node) {
        map(7)
        bulk("id")
        bulk(node.id)
        bulk(node.usesTLS ? "tls-port" : "port")
        integer(Int64(node.port))
        for key in ["ip", "endpoint"] {
            bulk(key)
            bulk(node.host)
        }
        bulk("role")
        bulk("master")
        bulk("replication-offset")
        integer(0)
        bulk("health")
        bulk("online")
    }
}
