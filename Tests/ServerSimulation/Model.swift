import Domain
import EventLog
import SeededRandom
import Users

/// A user, and the token that it logs in with.
struct Person {
    var name: String
    var role: Role
    var grants: [String] = []
    var isEnabled = true
    var token: Token

    var user: User {
        User(
            Identifier(name)!, role: role, tokens: [token.digest], grants: grants.map { Identifier($0)! },
            isEnabled: isEnabled)
    }
}

/// Everybody who may log in, as the database has it.
struct Users {
    private(set) var now: [Person]

    init() {
        now = [
            Person(name: "ann", role: .customer, grants: ["c0"], token: .random()),
            Person(name: "bob", role: .customer, token: .random()),
            Person(name: "eve", role: .merchant, grants: ["o0"], token: .random()),
            Person(name: "joe", role: .merchant, token: .random()),
            Person(name: "kim", role: .auditor, token: .random()),
            Person(name: "root", role: .admin, token: .random()),
        ]
    }

    mutating func change(_ chance: inout SeededGenerator, at time: UInt64) {
        let index = chance.below(now.count)
        switch (chance.below(3), now[index].role) {
        case (0, .customer): now[index].grants = chance.pick([[], ["c0"], ["c1"]])
        case (0, .merchant): now[index].grants = chance.pick([[], ["o0"], ["o1"]])
        case (1, _): now[index].role = chance.pick([.customer, .merchant, .auditor, .admin])
        default: now[index].isEnabled.toggle()
        }
        if now[index].role == .auditor || now[index].role == .admin { now[index].grants = [] }
    }

    /// Everybody may log in again, and nobody is confined.
    mutating func calm(at time: UInt64) {
        for index in now.indices { now[index].isEnabled = true }
    }
}

/// What a client asks.
struct Request {
    enum Kind {
        /// A login, with whether the token is right.
        case hello(isRight: Bool)
        case echo(String)
        case add(Write)
        case clear(Write)
        case open(Write)
        case close(Write)
        case count(String)
        case cart(String)
        case home(String)
        case subscribe(String)
    }

    var kind: Kind
    var words: [String]
    var sentAt: UInt64 = 0

    /// The write, if it is one.
    var write: Write? {
        switch kind {
        case .add(let write), .clear(let write), .open(let write), .close(let write): write
        default: nil
        }
    }
}

/// A command that changes something, sent once or several times, and what came of it.
final class Write {
    let id: String
    let stream: String
    let mayChangeNothing: Bool
    /// The integers that were answered.
    var replies: [Int64] = []
    /// The codes of errors that were answered.
    var errors: [String] = []
    /// Whether the user was allowed to do this at some moment of some attempt.
    var wasAllowed = false
    /// Whether the last attempt told nothing.
    var isInDoubt = false
    /// Whether some attempt was never answered.
    var wasLost = false

    init(id: String, stream: String, mayChangeNothing: Bool) {
        self.id = id
        self.stream = stream
        self.mayChangeNothing = mayChangeNothing
    }
}

/// What docs/protocol.md and docs/users.md say, once more.
enum Model {
    static let outlets = ["o0", "o1"]
    static let carts = ["c0-a", "c0-b", "c1-a", "c1-b"]

    /// Orders of a cart go to one outlet.
    static func outlet(of cart: String) -> String { cart.hasPrefix("c0") ? "o0" : "o1" }

    static func may(_ person: Person, _ kind: Request.Kind) -> Bool {
        guard person.isEnabled else { return false }
        switch kind {
        case .hello, .echo: return true
        case .add(let write), .clear(let write):
            let cart = String(write.stream.dropFirst("cart-".count))
            return person.role == .admin || person.role == .customer && owns(person, cart)
        case .open(let write), .close(let write):
            let outlet = String(write.stream.dropFirst("outlet-".count))
            return person.role == .admin
                || person.role == .merchant && (person.grants.isEmpty || person.grants.contains(outlet))
        case .count(let cart), .cart(let cart): return reads(person, cart: cart)
        case .home(let outlet): return reads(person, outlet: outlet)
        case .subscribe(let channel):
            let parts = channel.split(separator: ":").map(String.init)
            return parts[0] == "cart" ? reads(person, cart: parts[1]) : reads(person, outlet: parts[1])
        }
    }

    private static func owns(_ person: Person, _ cart: String) -> Bool {
        person.grants.isEmpty || person.grants.contains { cart == $0 || cart.hasPrefix($0 + "-") }
    }

    private static func reads(_ person: Person, cart: String) -> Bool {
        person.role == .customer ? owns(person, cart) : person.role != .merchant || person.grants.isEmpty
    }

    private static func reads(_ person: Person, outlet: String) -> Bool {
        person.role != .merchant || person.grants.isEmpty || person.grants.contains(outlet)
    }

    /// The codes of errors that may be answered, besides those about who may do what.
    static func mayFail(_ kind: Request.Kind, with code: String) -> Bool {
        switch kind {
        case .hello(let isRight): !isRight && code == "BUSY"
        case .echo: false
        case .add: ["UNKNOWN", "UNAVAILABLE", "BUSY", "CLOSED", "LIMIT"].contains(code)
        case .clear, .open, .close: ["UNKNOWN", "UNAVAILABLE", "BUSY"].contains(code)
        case .count, .cart, .home, .subscribe: ["UNAVAILABLE", "BUSY"].contains(code)
        }
    }
}
