internal import Application
internal import Domain
internal import EventLog
internal import HTTP
internal import Users

/// A browser's cookie: 256 random bits that no other browser knows, and which of its carts is the current one.
///
/// Everything of the browser carries an id made of a digest of the bits. So there is no table of browsers, nothing to
/// guess, and no secret in the log.
struct Visitor {
    /// Browsers take a cookie of this name only over a safe connection, for this host and for all of its paths.
    static let cookieName = "__Host-tiffin"
    /// The most carts of one browser; then it becomes another visitor.
    static let maximumCarts = 100_000

    private let secret: String
    /// Which of its carts is the current one, from 1.
    let cart: Int

    private init(secret: String, cart: Int) {
        self.secret = secret
        self.cart = cart
    }

    /// A new visitor.
    static func random() -> Visitor { Visitor(secret: CookieSecret.random(), cart: 1) }

    /// The visitor of a `Cookie` field; nil where it names none.
    init?(cookies: String) {
        guard let value = Cookies.value(of: Visitor.cookieName, in: cookies) else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, CookieSecret.isPlausible(parts[0]),
            let cart = Int(parts[1]), (1...Visitor.maximumCarts).contains(cart)
        else { return nil }
        self.init(secret: String(parts[0]), cart: cart)
    }

    /// The same visitor with a new cart; another one, where it has had as many as it may.
    var next: Visitor { cart < Visitor.maximumCarts ? Visitor(secret: secret, cart: cart + 1) : .random() }

    /// What carries everything that belongs to the visitor.
    var id: Identifier {
        Visitor.identifier("web-\(Digest.of(Array("tiffin visitor \(secret)".utf8)).bytes.prefix(16).hexadecimal)")
    }

    /// The current cart.
    var cartID: Identifier { Visitor.identifier("\(id)-\(cart)") }

    /// The carts before the current one, the newest first.
    ///
    /// - Parameter count: at most so many.
    func earlierCarts(_ count: Int) -> [Identifier] {
        (max(cart - count, 1)..<cart).reversed().map { Visitor.identifier("\(id)-\($0)") }
    }

    /// The id of a client that is no visitor yet: nothing belongs to it.
    static let nobody = identifier("web-nobody")

    private static func identifier(_ text: String) -> Identifier {
        guard let identifier = Identifier(text) else { preconditionFailure("'\(text)' is no id") }
        return identifier
    }

    /// `Set-Cookie` that lets a browser forget who it was.
    static let fieldOfNobody: (name: StaticString, value: String) = (
        "Set-Cookie", "\(Visitor.cookieName)=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax"
    )

    /// `Set-Cookie` for the visitor: for a year, out of reach of scripts, and not sent with what other sites post.
    var field: (name: StaticString, value: String) {
        (
            "Set-Cookie",
            "\(Visitor.cookieName)=\(secret).\(cart); Path=/; Max-Age=31536000; Secure; HttpOnly; SameSite=Lax"
        )
    }
}
