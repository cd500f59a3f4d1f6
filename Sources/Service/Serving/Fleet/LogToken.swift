package import Application
internal import CommandHandling
internal import EventLog
internal import EventLoop
internal import TextFormats

/// A place in the log that a client knows of, so that whichever server it asks next has read as far:
/// `3.1204.9f2c81d4`, or several of these with commas between them.
package struct LogToken: Equatable, Sendable {
    /// The most partitions that one is about.
    static let maximumCount = 256
    /// How many hexadecimal digits it has of the log's digest there.
    private static let digestDigits = 8

    /// A place in one partition.
    struct Place: Equatable, Sendable {
        var partition: Int
        var position: Int64
        /// How the digest of the log begins there.
        var digest: String

        /// Whether the log of a server is another one there, as far as it remembers.
        func isContradicted(by points: [LogPoint]) -> Bool {
            let known = points.last { $0.position == position }?.digest
            return known.map { !"\($0)".hasPrefix(digest) } ?? false
        }
    }

    var places: [Place]

    /// The ends of these partitions.
    init(_ heads: [LogHead]) {
        places = heads.map {
            Place(
                partition: $0.partition, position: $0.position,
                digest: String("\($0.digest)".prefix(LogToken.digestDigits)))
        }
    }

    /// The token of a text; nil where there is none.
    package init?(_ text: String) {
        let words = text.split(separator: ",", maxSplits: LogToken.maximumCount, omittingEmptySubsequences: false)
        guard words.count <= LogToken.maximumCount else { return nil }
        places = []
        for word in words {
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let partition = Int(parts[0]), partition >= 0, let position = Int64(parts[1]),
                position >= 0, parts[2].count == LogToken.digestDigits,
                parts[2].utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
            else { return nil }
            places.append(Place(partition: partition, position: position, digest: String(parts[2])))
        }
    }

    /// As clients have it.
    package var text: String {
        places.map { "\($0.partition).\($0.position).\($0.digest)" }.joined(separator: ",")
    }
}

extension Server {
    /// Up to where the log goes now in these partitions, as a token; null where there are none.
    package func token(of partitions: Set<Int>, for caller: Caller) throws(Failure) -> Response {
        guard !partitions.isEmpty else { return .answer(.null) }
        return try reading(for: caller, waitingFor: nil) { log async throws(EventLogError) in
            let heads = try await log.heads(of: partitions.sorted())
            return .text(LogToken(heads).text)
        }
    }

    /// Waits until everything is known here that a token is about, but no more than a second.
    package func waitUntilRead(_ token: LogToken) throws(Failure) -> Response {
        guard token.places.allSatisfy({ hasPartition($0.partition) }) else {
            throw .invalid("token", "the log has partitions 0 to \(partitioning.count - 1)")
        }
        let promise = Promise(about: .order, isHolding: true)
        var waiting = token.places.count
        for place in token.places {
            partitions[place.partition].whenRead(upTo: place.position, lookingEvery: 20) { [self] in
                waiting -= 1
                if waiting == 0 { promise.end(outcome(of: token)) }
            }
        }
        return .promise(promise)
    }

    private func outcome(of token: LogToken) -> Result<Answer, Failure> {
        for place in token.places {
            let worker = partitions[place.partition]
            guard worker.position >= place.position else {
                return .failure(
                    Failure(
                        .behind,
                        "partition \(place.partition) is known here up to position \(worker.position): try again"))
            }
            guard !place.isContradicted(by: worker.follower.points) else {
                return .failure(
                    Failure(
                        .forked,
                        "partition \(place.partition) has something else at position \(place.position): the database has "
                            + "lost what was there"))
            }
        }
        return .success(.text("OK"))
    }
}
