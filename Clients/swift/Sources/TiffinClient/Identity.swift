import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Who calls.
protocol Identity: Sendable {
    var field: (name: String, value: String)? { get }
    func take(_ answer: HTTPURLResponse)
}

/// A customer of the store: a secret, and which of its carts is the current one.
///
/// The server would give the secret away with its first answer. If that answer is lost, so is the cart. So it is made
/// here.
final class Visitor: Identity, @unchecked Sendable {
    private static let cookie = "__Host-tiffin"
    private let lock = NSLock()
    private var current: String

    init(session: String?) { current = session ?? Visitor.newSession() }

    var session: String { lock.withLock { current } }

    var field: (name: String, value: String)? { ("Cookie", "\(Visitor.cookie)=\(session)") }

    func take(_ answer: HTTPURLResponse) {
        let words = (answer.value(forHTTPHeaderField: "Set-Cookie") ?? "").prefix { $0 != ";" }
        guard words.hasPrefix("\(Visitor.cookie)=") else { return }
        let value = String(words.dropFirst(Visitor.cookie.count + 1))
        lock.withLock {
            let (new, own) = (Visitor.parts(value), Visitor.parts(current))
            // An answer that comes late leads back to no earlier cart.
            if value.isEmpty {
                current = Visitor.newSession()
            } else if new.secret != own.secret || new.cart > own.cart {
                current = value
            }
        }
    }

    private static func parts(_ session: String) -> (secret: Substring, cart: Int) {
        let parts = session.split(separator: ".")
        return (parts.first ?? "", parts.last.flatMap { Int($0) } ?? 0)
    }

    private static func newSession() -> String {
        var chance = SystemRandomNumberGenerator()
        let digits = (0..<64).map { _ in String(Int.random(in: 0..<16, using: &chance), radix: 16) }
        return digits.joined() + ".1"
    }
}

/// A user of the console; nobody while there are no users.
struct Login: Identity {
    var user: String?
    var token: String?

    var field: (name: String, value: String)? {
        user.map { ("Authorization", "Bearer \($0):\(token ?? "")") }
    }

    func take(_: HTTPURLResponse) {}
}
