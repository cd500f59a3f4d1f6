internal import Application
internal import EventLog
internal import EventLoop
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// What clients of Redis Cluster ask before they send a command to the server that has its key's slot. This server has
/// all slots.
enum ClusterCommands {
    static let all = cluster + modes

    private static let lastSlot = Int64(HashSlot.count - 1)

    private static let cluster: [LineCommand] = [
        LineCommand("CLUSTER SLOTS", .server, "Returns which server has which slots: this one has all of them.") { _ in
            { session, _ in
                let node = session.node
                session.reply { replies in
                    replies.array(1)
                    replies.array(3)
                    replies.integer(0)
                    replies.integer(lastSlot)
                    replies.array(4)
                    replies.bulk(node.host)
                    replies.integer(Int64(node.port))
                    replies.bulk(node.id)
                    // Other ways to reach it.
                    replies.map(0)
                }
            }
        },
        LineCommand("CLUSTER SHARDS", .server, "Describes the servers, with the slots that each of them has.") { _ in
            { session, _ in
                let node = session.node
                session.reply { replies in
                    replies.array(1)
                    replies.map(2)
                    replies.bulk("slots")
                    replies.array(2)
                    replies.integer(0)
                    replies.integer(lastSlot)
                    replies.bulk("nodes")
                    replies.array(1)
                    replies.append(node)
                }
            }
        },
        LineCommand("CLUSTER NODES", .server, "Describes the servers, one per line.") { _ in
            { session, _ in
                let node = session.node
                // There is no bus between servers; port 0 says so.
                let line = "\(node.id) \(node.host):\(node.port)@0 myself,master - 0 0 0 connected 0-\(lastSlot)\n"
                session.reply { $0.verbatim(line) }
            }
        },
        LineCommand("CLUSTER INFO", .server, "Describes the cluster, which is this server.") { _ in
            { session, _ in
                let facts = [
                    ("cluster_state", "ok"), ("cluster_slots_assigned", "\(HashSlot.count)"),
                    ("cluster_slots_ok", "\(HashSlot.count)"), ("cluster_slots_pfail", "0"),
                    ("cluster_slots_fail", "0"), ("cluster_known_nodes", "1"), ("cluster_size", "1"),
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
            "Returns how many outlets, carts and orders are in a slot; it looks at all of them."
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
        accepted("ASKING", "Says that the next command may concern a slot that is moving; none ever does."),
        accepted("READONLY", "Allows reads from replicas; there are none."),
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
}

extension Session {
    /// This server, at the address by which the client has reached it: no other is known to lead there.
    fileprivate var node: Node {
        let address = ServerAddress(connection.localAddress)
        let mapped = "::ffff:"
        let host = address.map { $0.host.hasPrefix(mapped) ? String($0.host.dropFirst(mapped.count)) : $0.host }
        return Node(
            id: server.nodeID, host: host ?? server.configuration.host,
            port: address.map { Int($0.port) } ?? server.port,
            usesTLS: server.configuration.tls != nil)
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
