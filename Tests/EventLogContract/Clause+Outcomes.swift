internal import EventLog
internal import Testing

extension Clause {
    static let outcomes = [
        Clause("The outcome of a batch is its receipt, even if others have written since") { log in
            var writer = LogWriter(log)
            let batch = writer.batch([[.cart("a")], [.cart("b")]], marks: [1, 2])
            let receipt = try await writer.append(batch)
            try await writer.catchUp()
            for mark in 3...6 {
                _ = try await writer.append([[.cart("a"), .cart("c")]], marks: [mark])
                try await writer.catchUp()
                #expect(try await log.outcome(of: batch, since: .start) == receipt)
            }
        },

        Clause("The outcome of a batch that was refused in part names that part") { log in
            var late = LogWriter(log)
            _ = try await LogWriter(log).append([[.cart("b")]])
            let batch = late.batch(
                [[.cart("a"), .cart("a")], [.cart("b"), .cart("x")], [.cart("c")]], marks: [1, 2, 3])
            let receipt = try await late.append(batch)
            #expect(receipt.conflicts == [1])
            try await late.catchUp()
            _ = try await late.append([[.cart("x")]], marks: [4])
            #expect(try await log.outcome(of: batch, since: .start) == receipt)
        },

        Clause("A batch that is not in the log has no outcome") { log in
            let late = LogWriter(log)
            _ = try await LogWriter(log).append([[.cart("a")]], marks: [1])

            let refused = late.batch([[.cart("a")]], marks: [2])
            #expect(try await late.append(refused).conflicts == [0])
            #expect(try await log.outcome(of: refused, since: .start) == nil)

            let neverSent = late.batch([[.cart("b")]], marks: [3])
            #expect(try await log.outcome(of: neverSent, since: .start) == nil)
            #expect(try await log.heads()[0].position == 1)
        },
    ]
}
