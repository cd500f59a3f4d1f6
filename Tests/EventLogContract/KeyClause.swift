internal import Domain
package import EventLog
internal import Testing

/// One promise of customers' keys: a check of empty keys.
package struct KeyClause: Sendable, CustomTestStringConvertible {
    /// The promise in a sentence.
    package let testDescription: String
    /// Checks the promise.
    package let check: @Sendable (any CustomerKeys) async throws -> Void

    private init(_ description: String, check: @escaping @Sendable (any CustomerKeys) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static let asha = Identifier("asha")!
    private static let ben = Identifier("ben")!

    /// The whole contract.
    package static let all = [
        KeyClause("Nobody has a key before one is created") { keys in
            let key = try await keys.key(of: asha, partition: 0)
            #expect(key == .unknown)
        },
        KeyClause("A customer keeps the key that was created") { keys in
            let key = try await keys.makeKey(of: asha, partition: 0)
            guard case .known = key else {
                Issue.record("no key was created")
                return
            }
            #expect(try await keys.makeKey(of: asha, partition: 0) == key)
            #expect(try await keys.key(of: asha, partition: 0) == key)
        },
        KeyClause("Every customer has a key of their own, and in every partition another") { keys in
            var made: Set<SealingKey> = []
            for customer in [asha, ben] {
                for partition in 0..<2 {
                    if case .known(let key) = try await keys.makeKey(of: customer, partition: partition) {
                        made.insert(key)
                    }
                }
            }
            #expect(made.count == 4)
        },
        KeyClause("Concurrent requests for a customer's key all get the same one") { keys in
            let made = try await withThrowingTaskGroup(of: CustomerKey.self) { group in
                for _ in 0..<20 { group.addTask { try await keys.makeKey(of: asha, partition: 0) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.allSatisfy { $0 == made[0] && $0 != .destroyed && $0 != .unknown })
        },
        KeyClause("A forgotten customer has no key in any partition, and never gets another; nobody else is affected") {
            keys in
            _ = try await keys.makeKey(of: asha, partition: 0)
            let other = try await keys.makeKey(of: ben, partition: 0)
            _ = try await keys.forget([asha])
            for partition in 0..<2 {
                #expect(try await keys.key(of: asha, partition: partition) == .destroyed)
                #expect(try await keys.makeKey(of: asha, partition: partition) == .destroyed)
            }
            _ = try await keys.forget([asha])
            #expect(try await keys.makeKey(of: asha, partition: 0) == .destroyed)
            #expect(try await keys.key(of: ben, partition: 0) == other)
        },
        KeyClause("A customer who is forgotten before getting a key never gets one") { keys in
            _ = try await keys.forget([asha])
            #expect(try await keys.makeKey(of: asha, partition: 1) == .destroyed)
        },
        KeyClause("Forgetting says what it did, of each customer in the order of their ids") { keys in
            for partition in 0..<2 { _ = try await keys.makeKey(of: asha, partition: partition) }
            let first = try await keys.forget([ben, asha])
            #expect(first.outcomes.map(\.customer) == [asha, ben])
            #expect(first.outcomes.map(\.destroyedKeys) == [2, 0])
            #expect(first.outcomes.map(\.wasKnown) == [true, false])
            #expect(first.outcomes.allSatisfy { $0.forgottenBefore == nil } && first.remainder == nil)
            let again = try await keys.forget([asha])
            #expect(again.outcomes.map(\.destroyedKeys) == [0])
            #expect(again.outcomes.allSatisfy { $0.forgottenBefore != nil && $0.wasKnown })
        },
    ]
}
