internal import Domain
internal import EventLog
internal import HTTP
internal import Users

/// How somebody at the console has proved to be a user. A login holds as long as its proof would still be accepted.
struct Login {
    enum Proof {
        case password(PasswordHash)
        /// The digest of a token.
        case token(Digest)
    }

    let name: Identifier
    let proof: Proof
    /// The session that it is the login of; nil for a token that comes with each request.
    var session: ConsoleSessions.ID?

    /// The user, if the login still holds.
    func user(among users: UserDirectory) -> User? {
        guard let user = users[name], user.isEnabled else { return nil }
        let holds =
            switch proof {
            case .password(let hash): user.password == hash
            case .token(let digest): user.tokens.contains(digest)
            }
        return holds ? user : nil
    }
}

/// The browsers that have logged in at the console, each with a cookie that stands for its login.
///
/// They are in memory only, so a restart logs everybody out. What is kept of a cookie is a digest.
struct ConsoleSessions {
    /// What a session is known by here: a digest of the cookie's value.
    typealias ID = Digest

    /// Browsers take a cookie of this name only over a safe connection, for this host and for all of its paths. All
    /// ports of a host share cookies, so it is not the store's name.
    static let cookieName = "__Host-tiffin-console"
    /// How long a login holds.
    static let seconds: UInt64 = 8 * 3_600
    /// The most sessions. For one more, the oldest has to go.
    static let maximumCount = 1_000
    /// The most sessions of a user.
    static let maximumCountOfUser = 50

    private var logins: [ID: (login: Login, since: UInt64)] = [:]

    /// How many there are.
    var count: Int { logins.count }

    /// Begins a session.
    ///
    /// - Parameter now: nanoseconds of a clock that only rises.
    /// - Returns: `Set-Cookie` for the browser.
    mutating func begin(_ login: Login, at now: UInt64) -> (name: StaticString, value: String) {
        logins = logins.filter { !ConsoleSessions.hasEnded($0.value.since, at: now) }
        let own = logins.filter { $0.value.login.name == login.name }
        if own.count >= ConsoleSessions.maximumCountOfUser {
            removeOldest(of: own)
        } else if logins.count >= ConsoleSessions.maximumCount {
            removeOldest(of: logins)
        }
        let secret = CookieSecret.random()
        let id = ConsoleSessions.id(of: secret)
        var login = login
        login.session = id
        logins[id] = (login, now)
        return ConsoleSessions.field(secret, seconds: ConsoleSessions.seconds)
    }

    private mutating func removeOldest(of sessions: [ID: (login: Login, since: UInt64)]) {
        if let oldest = sessions.min(by: { $0.value.since < $1.value.since }) { logins[oldest.key] = nil }
    }

    /// The login that a `Cookie` field stands for.
    func login(cookies: String, at now: UInt64) -> Login? {
        guard let secret = Cookies.value(of: ConsoleSessions.cookieName, in: cookies), CookieSecret.isPlausible(secret)
        else { return nil }
        return login(of: ConsoleSessions.id(of: secret), at: now)
    }

    /// The login of a session.
    func login(of id: ID, at now: UInt64) -> Login? {
        guard let (login, since) = logins[id], !ConsoleSessions.hasEnded(since, at: now) else { return nil }
        return login
    }

    /// Ends a session. Returns `Set-Cookie` for a browser that is to forget it.
    mutating func end(_ id: ID?) -> (name: StaticString, value: String) {
        if let id { logins[id] = nil }
        return ConsoleSessions.field("", seconds: 0)
    }

    /// Ends the sessions of users who were removed or disabled, or who could not log in again like that.
    mutating func endThoseWithout(_ users: UserDirectory) {
        logins = logins.filter { $0.value.login.user(among: users) != nil }
    }

    private static func hasEnded(_ since: UInt64, at now: UInt64) -> Bool {
        now > since && (now - since) / 1_000_000_000 >= seconds
    }

    private static func id(of secret: String) -> ID { Digest.of(Array("tiffin console \(secret)".utf8)) }

    private static func field(_ value: String, seconds: UInt64) -> (name: StaticString, value: String) {
        (
            "Set-Cookie",
            "\(cookieName)=\(value); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict"
        )
    }
}
