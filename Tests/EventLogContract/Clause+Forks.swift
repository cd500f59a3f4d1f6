internal import Domain
internal import EventLog
internal import Testing

extension Clause {
    static let forks = [
        Clause("A writer that has read another log is refused, and nothing is appended") { log in
            let points = try await fill(log)
            let batch = LogWriter(log).batch([[.cart("new")]], marks: [99])
            for point in points { #expect(try await isRefused { try await log.append(batch, seen: point.wrong) }) }
            let end = try await log.end(of: 0)
            #expect(end == points.last)
            // Where a writer only knows the position, that has to do.
            for position in [end.position + 1, LogHead.maximumPosition] {
                let beyond = LogPoint(position: position, digest: nil)
                #expect(try await isRefused { try await log.append(batch, seen: beyond) })
            }
            #expect(try await log.end(of: 0) == end)
            #expect(try await log.append(batch, seen: points[3]).end.position == end.position + 1)
        },

        Clause("A log begins with zeros, whatever a writer takes its beginning for") { log in
            let batch = LogWriter(log).batch([[.cart("c")]])
            var auditor = Auditor(log)
            let seen = LogPoint(position: 0, digest: .of([1]))
            try await auditor.check(try await log.append(batch, seen: seen), of: batch, seen: seen)
        },

        Clause("A reader goes on from its point, in whole batches, and learns if the log is another one") { log in
            let points = try await fill(log)
            let events = try await log.read(partition: 0, after: 0, limit: .max)
            for (index, point) in points.enumerated() {
                #expect(try await isRefused { try await log.follow(partition: 0, after: point.wrong, limit: 10) })
                for limit in [1, 2, 7, 1_000] {
                    let following = try await log.follow(partition: 0, after: point, limit: limit)
                    let end = points[(index + 1)...].first { $0.position - point.position >= limit } ?? points.last
                    #expect(following.end == end, "after \(point.position), \(limit)")
                    let range = Int(point.position)..<Int(following.end.position)
                    #expect(following.events == Array(events[range]))
                }
            }
            let beyond = LogPoint(position: events.last!.position + 1, digest: nil)
            #expect(try await isRefused { try await log.follow(partition: 0, after: beyond, limit: 1) })
        },

        Clause("A reader that passes over carts learns if the log is another one") { log in
            let points = try await fill(log)
            for point in points {
                for limit in [1, 1_000] {
                    #expect(
                        try await isRefused {
                            try await log.followWithoutCarts(partition: 0, after: point.wrong, limit: limit)
                        })
                }
            }
            let beyond = LogPoint(position: points.last!.position + 1, digest: nil)
            #expect(try await isRefused { try await log.followWithoutCarts(partition: 0, after: beyond, limit: 1) })
        },

        Clause("Whoever loads a stream learns if the log is another one than that which is followed") { log in
            let points = try await fill(log)
            for name in ["c1", "new"] {
                let all = try await log.read(stream: .cart(name), partition: 0, afterVersion: 0, limit: 100)
                for point in points {
                    for limit in [1, 100] {
                        let events = try await log.read(
                            stream: .cart(name), partition: 0, afterVersion: 0, limit: limit, seen: point)
                        #expect(events == Array(all.prefix(limit)))
                    }
                    #expect(
                        try await isRefused {
                            try await log.read(
                                stream: .cart(name), partition: 0, afterVersion: 0, limit: 1, seen: point.wrong)
                        })
                }
            }
        },

        Clause("A reader in the middle of a batch goes on from there") { log in
            let points = try await fill(log)
            let middle = LogPoint(position: points[2].position + 1, digest: nil)
            let following = try await log.follow(partition: 0, after: middle, limit: 1)
            #expect(following.end == points[3])
            #expect(following.events.first?.position == middle.position + 1)
            let wrong = LogPoint(position: middle.position, digest: points[2].digest)
            #expect(try await isRefused { try await log.follow(partition: 0, after: wrong, limit: 1) })
        },

        Clause("The newest common point of two logs is found") { log in
            let points = try await fill(log)
            for count in 0...points.count {
                let other = points[..<count] + points[count...].map(\.wrong)
                let newest = try await log.newest(of: Array(other), partition: 0)
                // Every log has the point at which it begins.
                #expect(newest == (count == 0 ? nil : points[count - 1]))
            }
        },
    ]

    /// Fills a log with batches of one to five events. Returns where each ends, in order.
    private static func fill(_ log: any EventLog) async throws -> [LogPoint] {
        var writer = LogWriter(log)
        var points: [LogPoint] = []
        for number in 1...12 {
            let stream = StreamName.cart("c\(number % 3)")
            points.append(
                try await writer.append([Array(repeating: stream, count: 1 + number % 5)], marks: [number]).end)
            try await writer.catchUp()
        }
        return points
    }

    private static func isRefused<Result>(_ body: () async throws -> Result) async throws -> Bool {
        do {
            _ = try await body()
            return false
        } catch EventLogError.forked {
            return true
        }
    }
}

extension LogPoint {
    /// The same position in another log.
    fileprivate var wrong: LogPoint { LogPoint(position: position, digest: Digest.of([7])) }
}
