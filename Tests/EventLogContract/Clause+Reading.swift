internal import EventLog
internal import Testing

extension Clause {
    static let reading = readingInOrder + times

    private static let readingInOrder = [
        Clause("A read begins after a position, ends at its limit, and finds nothing past the end") { log in
            let writer = LogWriter(log)
            _ = try await writer.append([Array(repeating: .cart("a"), count: 20)])
            let all = try await log.read(partition: 0, after: 0, limit: .max)
            #expect(all.map(\.position) == Array(1...20))
            for after in 0...22 {
                for limit in [0, 1, 5, 20, 21] {
                    let events = try await log.read(partition: 0, after: Int64(after), limit: limit)
                    #expect(events == Array(all.dropFirst(after).prefix(limit)))
                }
            }
            #expect(try await log.read(partition: 0, after: .max, limit: 1) == [])
        },

        Clause("A stream is read by itself, after a version, up to a limit") { log in
            let writer = LogWriter(log)
            let streams = (0..<30).map { StreamName.cart("c\($0 % 3)") }
            _ = try await writer.append([streams])
            let all = try await log.read(partition: 0, after: 0, limit: 100)
            for stream in Set(streams) {
                let own = all.filter { $0.stream == stream.description }
                #expect(own.map(\.version) == Array(1...10))
                for after in 0...11 {
                    for limit in [0, 1, 4, 10, 11, .max] {
                        let events = try await log.read(
                            stream: stream, partition: 0, afterVersion: Int64(after), limit: limit)
                        #expect(events == Array(own.dropFirst(after).prefix(limit)))
                    }
                }
            }
            for name in ["c", "c00", "C0", "c0 "] {
                guard let stream = StreamName("cart-\(name)") else { continue }
                #expect(try await log.read(stream: stream, partition: 0, afterVersion: 0, limit: 9) == [])
            }
        },
    ]
}
