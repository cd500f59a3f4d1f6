import Domain
import SeededRandom
import Testing

@testable import Users

@Suite struct ConfinementTests {
    private static func id(_ text: String) -> Identifier { Identifier(text)! }

    private static func confinement(_ role: Role, _ ids: String...) -> Confinement {
        User(id("someone"), role: role, grants: ids.map { id($0) }).confinement!
    }

    private static let subjects: [Subject] = [.cart, .outlet, .order, .customer, .savedQuery]

    @Test func `Nobody is confined without grants`() {
        #expect(User(Self.id("a"), role: .customer).confinement == nil)
    }

    @Test(arguments: [
        ("anna", true), ("anna-1", true), ("anna:1", true), ("anna.1", true), ("anna-", true), ("anna-1-2", true),
        ("annabel", false), ("anna_1", false), ("anna1", false), ("ann", false), ("Anna", false), ("x-anna", false),
        ("bert", false), ("-anna", false), ("a", false),
    ])
    func `A customer uses what carries its id`(id: String, isOwn: Bool) {
        let confinement = Self.confinement(.customer, "anna")
        #expect(confinement.allows(Self.id(id), as: .cart) == isOwn)
        #expect(confinement.allows(Self.id(id), as: .customer) == isOwn)
        #expect(confinement.allows(Self.id(id), as: .savedQuery) == isOwn)
        #expect(confinement.allowsOrder(from: Self.id(id), at: Self.id("anna")) == isOwn)
        #expect(confinement.allows(Self.id(id), as: .outlet))
        #expect(confinement.allowsCatalogue)
    }

    @Test func `A merchant uses its outlets, to the letter`() {
        let confinement = Self.confinement(.merchant, "grill", "bakery")
        for (id, isOwn) in [("grill", true), ("bakery", true), ("grill-2", false), ("gril", false), ("Grill", false)] {
            #expect(confinement.allows(Self.id(id), as: .outlet) == isOwn)
            #expect(confinement.allowsOrder(from: Self.id("grill"), at: Self.id(id)) == isOwn)
            #expect(!confinement.allows(Self.id(id), as: .cart))
            #expect(!confinement.allows(Self.id(id), as: .customer))
            #expect(!confinement.allows(Self.id(id), as: .savedQuery))
        }
        #expect(!confinement.allowsCatalogue)
    }

    @Test(arguments: [Role.auditor, .admin, .anybody])
    func `Where another role is confined after all, it may use nothing`(role: Role) {
        let confinement = Self.confinement(role, "x")
        for subject in Self.subjects where subject != .order {
            #expect(!confinement.allows(Self.id("x"), as: subject))
        }
        #expect(!confinement.allowsOrder(from: Self.id("x"), at: Self.id("x")) && !confinement.allowsCatalogue)
    }

    /// Two customers whose confinements were both accepted share nothing unless an id is the same.
    @Test(arguments: SeededGenerator.seeds)
    func `Confinements that do not overlap have nothing in common`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func anyID() -> Identifier {
            Self.id(
                String((0..<random.number(1...4)).map { _ in random.pick(["a", "b", "-", ":", ".", "_"]) }.joined()))
        }
        for _ in 0..<300 {
            let (first, second, id) = (anyID(), anyID(), anyID())
            var directory = UserDirectory()
            directory.apply([UserChange(Self.id("x"), User(Self.id("x"), role: .customer, grants: [first]))])
            let overlaps = directory.overlap(of: Self.id("y"), [second]) != nil
            let isShared = first.isCarried(by: id) && second.isCarried(by: id)
            #expect(!isShared || overlaps || first == second, "seed \(seed): \(first), \(second) and \(id)")
            #expect(
                first.isCarried(by: id) == (id == first || "-:.".contains { id.rawValue.hasPrefix("\(first)\($0)") }))
        }
    }

    @Test func `Only customers and merchants are confined, to a bounded number of ids`() {
        let ids = (0...User.maximumGrants).map { Self.id("id\($0)") }
        for role in Role.ofUsers {
            #expect(User.problem(confining: role, to: []) == nil)
            #expect((User.problem(confining: role, to: [ids[0]]) == nil) == [.customer, .merchant].contains(role))
            #expect(User.problem(confining: role, to: ids) != nil)
        }
        #expect(User.problem(confining: .customer, to: ids.dropLast()) == nil)
    }
}
