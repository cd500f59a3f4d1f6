internal import EventLog

/// Which server each partition should be decided by, if these servers are there: the same for everybody.
///
/// Each partition ranks the servers by digests of both names (rendezvous hashing), so that few partitions move when a
/// server comes or goes. In the order of their numbers, each goes to the first of its servers that still has room: none
/// gets more than its share, rounded up.
public struct Wish: Sendable {
    private let owners: [ServerID]

    /// The wish for some servers, in any order.
    public init(servers: some Collection<ServerID>, partitionCount: Int) {
        var ranks = Ranks()
        self.init(servers: Set(servers), partitionCount: partitionCount, ranks: &ranks)
    }

    init(servers: Set<ServerID>, partitionCount: Int, ranks: inout Ranks) {
        guard !servers.isEmpty, partitionCount > 0 else {
            owners = []
            return
        }
        ranks.take(servers, partitionCount)
        // In order, so that even two equal ranks give everybody the same.
        let candidates = servers.sorted()
        let candidateRanks = candidates.map { ranks[$0] }
        let share = (partitionCount + candidates.count - 1) / candidates.count
        var room = [Int](repeating: share, count: candidates.count)
        owners = (0..<partitionCount).map { partition in
            var best: (index: Int, rank: UInt64)?
            for index in candidates.indices where room[index] > 0 {
                let rank = candidateRanks[index][partition]
                if best.map({ rank > $0.rank }) ?? true { best = (index, rank) }
            }
            // Together they have room for all partitions.
            let index = best?.index ?? 0
            room[index] -= 1
            return candidates[index]
        }
    }

    /// The server of a partition; nil without servers, or for a partition that there is not.
    public subscript(partition: Int) -> ServerID? { owners.indices.contains(partition) ? owners[partition] : nil }

    /// What each partition ranks the servers by. To make them takes a digest for each partition and server, so they are
    /// kept while a server is there.
    struct Ranks: Sendable {
        private var ranks: [ServerID: [UInt64]] = [:]

        subscript(server: ServerID) -> [UInt64] { ranks[server] ?? [] }

        /// Has the ranks of these servers, and of no others.
        mutating func take(_ servers: Set<ServerID>, _ partitionCount: Int) {
            ranks = ranks.filter { servers.contains($0.key) }
            for server in servers where ranks[server] == nil {
                ranks[server] = (0..<partitionCount).map { partition in
                    Digest.of(Array("\(server.text)/\(partition)".utf8)).withUnsafeBytes { bytes in
                        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                    }
                }
            }
        }
    }
}
