import Domain
import EventLog
import EventLoop
import Postgres
import TestSupport
import Testing
import Users

@testable import PostgresStorage

@Suite struct PostgresUsersTests {
    init() { LoopActor.startInBackground() }

    private static let anna = Identifier("anna")!

    @LoopActor
    private func database() async throws -> String {
        let database = try await TestDatabase.create()
        try await Migrations.run(database) { _ in }
        return database
    }

    @Test @LoopActor func `What is written is read`() async throws {
        let database = try await database()
        let users = PostgresUsers(database)
        defer { users.close() }
        #expect(try await users.changes()?.changes.isEmpty == true)
        #expect(try await users.changes() == nil)
        let (password, token) = (PasswordHash(of: Array("a password".utf8)), Token.random())
        let ids = ["anna", "x.y"].map { Identifier($0)! }
        try await UserTable.with(database) { table in
            try await table.add(User(Self.anna, role: .customer, password: password, grants: ids))
            try await table.add(token, to: Self.anna)
        }
        let changes = try #require(try await users.changes())
        let user = try #require(changes.changes.first?.user)
        #expect(changes.changes.count == 1 && !changes.isEverything)
        #expect(user.name == Self.anna && user.role == .customer && user.password == password && user.isEnabled)
        #expect(user.grants == ids && user.tokens == [token.digest])
        #expect(try await users.changes() == nil)
        #expect(try await UserTable.with(database) { try await $0.all().map(\.user.name) } == [Self.anna])
    }

    @Test @LoopActor func `Every change is seen once, and a removal, too`() async throws {
        let database = try await database()
        let users = PostgresUsers(database)
        defer { users.close() }
        func user() async throws -> User? {
            let changes = try #require(try await users.changes())
            #expect(changes.changes.map(\.name) == [Self.anna])
            return changes.changes.first?.user
        }
        _ = try await users.changes()
        try await UserTable.with(database) { try await $0.add(User(Self.anna, role: .customer)) }
        #expect(try await user()?.role == .customer)
        try await UserTable.with(database) { try await $0.grant(.merchant, [Self.anna], to: Self.anna) }
        #expect(try await user()?.role == .merchant)
        try await UserTable.with(database) { try await $0.grant(nil, [], to: Self.anna) }
        #expect(try await user()?.confinement == nil)
        try await UserTable.with(database) { try await $0.set(isEnabled: false, of: Self.anna) }
        #expect(try await user()?.isEnabled == false)
        let password = PasswordHash(of: Array("a password".utf8))
        try await UserTable.with(database) { try await $0.set(password, of: Self.anna) }
        #expect(try await user()?.password == password)
        try await UserTable.with(database) { try await $0.remove(Self.anna) }
        #expect(try await user() == nil)
        // Nothing of the removed one comes back with the next of that name.
        try await UserTable.with(database) { try await $0.add(User(Self.anna, role: .auditor)) }
        let again = try await user()
        #expect(again?.role == .auditor && again?.password == nil && again?.isEnabled == true)
    }

    @Test @LoopActor func `A change that is refused changes nothing`() async throws {
        let database = try await database()
        let users = PostgresUsers(database)
        defer { users.close() }
        let bert = Identifier("bert")!
        try await UserTable.with(database) {
            try await $0.add(User(Self.anna, role: .customer, grants: [Self.anna]))
        }
        _ = try await users.changes()
        for change: @LoopActor @Sendable (UserTable) async throws -> Void in [
            { try await $0.add(User(Self.anna, role: .admin)) },
            { try await $0.remove(bert) },
            { try await $0.set(isEnabled: true, of: bert) },
            { try await $0.grant(.admin, nil, to: Self.anna) },
            { try await $0.add(User(bert, role: .customer, grants: [Identifier("anna-1")!])) },
            { try await $0.add(Token.random(), to: bert) },
            { _ = try await $0.revoke(nil, of: Self.anna) },
        ] {
            await #expect(throws: UserTableError.self) { try await UserTable.with(database, change) }
        }
        #expect(try await users.changes() == nil)
    }

    @Test @LoopActor func `Tokens are bounded, and taken back one by one or all at once`() async throws {
        let database = try await database()
        try await UserTable.with(database) { table in
            try await table.add(User(Self.anna, role: .customer))
            let tokens = (0..<User.maximumTokens).map { _ in Token.random() }
            for token in tokens { try await table.add(token, to: Self.anna) }
            await #expect(throws: UserTableError.self) { try await table.add(Token.random(), to: Self.anna) }
            #expect(try await table.revoke(Token.name(of: tokens[3].digest), of: Self.anna) == 1)
            #expect(try await table.all()[0].user.tokens == tokens.map(\.digest).filter { $0 != tokens[3].digest })
            #expect(try await table.revoke(nil, of: Self.anna) == User.maximumTokens - 1)
            #expect(try await table.all()[0].user.tokens == [])
        }
    }

    @Test @LoopActor func `A database that was set back is read as a whole`() async throws {
        let database = try await database()
        let users = PostgresUsers(database)
        defer { users.close() }
        try await UserTable.with(database) { try await $0.add(User(Self.anna, role: .customer)) }
        _ = try await users.changes()
        let owner = try await PostgresConnection.connect(database)
        defer { owner.close() }
        try await owner.runScript("DELETE FROM tiffin.users; UPDATE tiffin.user_revision SET revision = 0")
        let changes = try #require(try await users.changes())
        #expect(changes.isEverything && changes.changes.isEmpty)
    }

    @Test @LoopActor func `What somebody else wrote into the table frees nobody`() async throws {
        let database = try await database()
        let users = PostgresUsers(database)
        defer { users.close() }
        let owner = try await PostgresConnection.connect(database)
        defer { owner.close() }
        try await owner.runScript(
            """
            INSERT INTO tiffin.users (name, role, password, grants, created_at, revision) VALUES
                ('a', 'customer', 'no hash', '{}', now(), 1), ('b', 'customer', NULL, '{"not an id"}', now(), 1),
                ('not an id', 'admin', NULL, '{}', now(), 1);
            UPDATE tiffin.user_revision SET revision = 1;
            """)
        let found = try #require(try await users.changes()).changes.compactMap(\.user)
        #expect(found.map(\.name.rawValue).sorted() == ["a", "b"])
        #expect(found.first { $0.name.rawValue == "a" }?.password == nil)
        #expect(found.first { $0.name.rawValue == "b" }?.isEnabled == false)
    }
}
