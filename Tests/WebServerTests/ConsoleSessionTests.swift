import Domain
import Testing
import Users

@testable import WebServer

@Suite struct `Logins at the console` {
    private static let second: UInt64 = 1_000_000_000
    private static let start = 1_000 * second
    private static let hash = PasswordHash(of: Array("correct horse".utf8))

    private static func name(_ text: String) -> Identifier { Identifier(text)! }

    /// Begins a session. Gives the cookie that a browser then sends.
    private static func begin(
        _ sessions: inout ConsoleSessions, _ name: String, _ proof: Login.Proof = .password(hash),
        at now: UInt64 = start
    ) -> String {
        let field = sessions.begin(Login(name: Self.name(name), proof: proof), at: now).value
        return String(field.prefix { $0 != ";" })
    }

    @Test func `A cookie stands for a login for eight hours, and nothing else does`() throws {
        var sessions = ConsoleSessions()
        let field = sessions.begin(Login(name: Self.name("anna"), proof: .password(Self.hash)), at: Self.start).value
        #expect(field.hasPrefix("__Host-tiffin-console="))
        for attribute in ["Path=/", "Max-Age=28800", "Secure", "HttpOnly", "SameSite=Strict"] {
            #expect(field.contains("; \(attribute)"))
        }
        let cookie = String(field.prefix { $0 != ";" })
        let login = try #require(sessions.login(cookies: "a=b; \(cookie)", at: Self.start))
        #expect(login.name.rawValue == "anna" && login.session != nil)
        let late = Self.start + 8 * 3_600 * Self.second
        #expect(sessions.login(cookies: cookie, at: late - 1) != nil)
        #expect(sessions.login(cookies: cookie, at: late) == nil)
        let other = "\(cookie.dropLast())\(cookie.hasSuffix("0") ? "1" : "0")"
        for wrong in ["", other, String(cookie.dropLast()), "\(cookie)0", "\(cookie); \(cookie)", cookie.uppercased()] {
            #expect(sessions.login(cookies: wrong, at: Self.start) == nil, "\(wrong)")
        }
        _ = Self.begin(&sessions, "anna", at: late)
        #expect(sessions.count == 1, "the one that has ended makes room")
    }

    @Test func `A login that ended is no other's end`() throws {
        var sessions = ConsoleSessions()
        let (one, other) = (Self.begin(&sessions, "anna"), Self.begin(&sessions, "anna"))
        #expect(one != other)
        let ended = sessions.end(sessions.login(cookies: one, at: Self.start)?.session).value
        #expect(ended.hasPrefix("__Host-tiffin-console=; ") && ended.contains("Max-Age=0"))
        #expect(sessions.login(cookies: one, at: Self.start) == nil)
        #expect(sessions.login(cookies: other, at: Self.start) != nil)
    }

    @Test func `A login ends with its user, and with what it was proved by`() {
        let (name, token, other) = (Self.name("anna"), Token.random(), Token.random())
        let tokens = [token.digest, other.digest]
        let changed = PasswordHash(of: Array("another one".utf8))
        let changes: [(User?, isPasswordRight: Bool, isTokenRight: Bool)] = [
            (User(name, role: .admin, password: Self.hash, tokens: tokens), true, true),
            // What it may do is looked up each time.
            (User(name, role: .auditor, password: Self.hash, tokens: tokens), true, true),
            (User(name, role: .admin, password: changed, tokens: tokens), false, true),
            (User(name, role: .admin, password: Self.hash, tokens: [other.digest]), true, false),
            (User(name, role: .admin, password: Self.hash, tokens: tokens, isEnabled: false), false, false),
            (nil, false, false),
        ]
        for (user, isPasswordRight, isTokenRight) in changes {
            var sessions = ConsoleSessions()
            let withPassword = Self.begin(&sessions, "anna")
            let withToken = Self.begin(&sessions, "anna", .token(token.digest))
            var users = UserDirectory()
            users.apply([UserChange(name, user)])
            sessions.endThoseWithout(users)
            #expect((sessions.login(cookies: withPassword, at: Self.start) != nil) == isPasswordRight)
            #expect((sessions.login(cookies: withToken, at: Self.start) != nil) == isTokenRight)
        }
    }

    @Test func `There are so many sessions and no more, of a user and of all; the oldest goes`() {
        var sessions = ConsoleSessions()
        let oldest = Self.begin(&sessions, "u0", at: Self.start)
        let own = (0..<ConsoleSessions.maximumCountOfUser).map {
            Self.begin(&sessions, "anna", at: Self.start + 1 + UInt64($0))
        }
        let now = Self.start + 1_000
        _ = Self.begin(&sessions, "anna", at: now)
        #expect(sessions.count == ConsoleSessions.maximumCountOfUser + 1)
        #expect(sessions.login(cookies: own[0], at: now) == nil && sessions.login(cookies: own[1], at: now) != nil)
        #expect(sessions.login(cookies: oldest, at: now) != nil, "another's session stays")
        for number in 1...ConsoleSessions.maximumCount { _ = Self.begin(&sessions, "u\(number)", at: now) }
        #expect(sessions.count == ConsoleSessions.maximumCount)
        #expect(sessions.login(cookies: oldest, at: now) == nil)
    }
}
