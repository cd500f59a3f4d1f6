import Domain
import EventLog
import LoadOracle
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
    /// The one that the reader of the log logs in as: nobody changes it.
    static let reader = 6
    private(set) var now: [Person]

    init() {
        now = [
            Person(name: "ann", role: .customer, grants: ["c0"], token: .random()),
            Person(name: "bob", role: .customer, token: .random()),
            Person(name: "eve", role: .merchant, grants: ["o0"], token: .random()),
            Person(name: "joe", role: .merchant, token: .random()),
            Person(name: "kim", role: .auditor, token: .random()),
            Person(name: "root", role: .admin, token: .random()),
            Person(name: "relay", role: .auditor, token: .random()),
        ]
    }

    mutating func change(_ chance: inout SeededGenerator, at time: UInt64) {
        let index = chance.below(Users.reader)
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
        case write(Write)
        case count(String)
        case cart(String)
        case quote(String)
        case home(String)
        case order(KnownOrder)
        /// What an outlet's kitchen sees, and its orders; with whether all is quiet.
        case kitchen(String, isQuiet: Bool)
        /// What an outlet took, when all is quiet.
        case takings(String)
        /// What an outlet has counted, with whether all is quiet.
        case stock(String, isQuiet: Bool)
        case orders(String, isQuiet: Bool)
        /// The orders of a customer.
        case ordersOf(String, isQuiet: Bool)
        /// Every outlet that is listed.
        case outlets
        /// A channel, and the order that it is about.
        case subscribe(String, KnownOrder?)
    }

    var kind: Kind
    var words: [String]
    var sentAt: UInt64 = 0

    /// The write, if it is one.
    var write: Write? { if case .write(let write) = kind { write } else { nil } }
}

/// An order that a client was told of.
struct KnownOrder {
    let id: String
    let cart: String
    let total: Int64

    var outlet: String { Model.outlet(of: cart) }
}

/// What a write asks for.
enum Action {
    case add(Choice, quantity: Int)
    case clear, open, close, hide, show, remove
    case tip(Int64)
    /// Sets what the item costs, or an option.
    case price(String, Int64)
    /// Places an order for what is in the cart, if it costs that.
    ///
    /// - Parameter missing: what is to be done if something is missing.
    case checkOut(total: Int64, hasName: Bool, missing: String)
    case order(OrderStep, KnownOrder)
    case change(ChangeStep, KnownOrder)
    /// Says how much there is of something: `item tea`, `option milk`.
    case stock(String, Count)
    /// Takes something off so many orders.
    case promote(limit: Int64)
}

/// An error that was answered.
struct Refusal {
    var code: String
    /// The end of the log when it came.
    var head: Int64
    /// When the command was sent.
    var sentAt: UInt64
}

/// A command that changes something, sent once or several times, and what came of it.
final class Write {
    let id: String
    let stream: String
    let action: Action
    /// The customer that it names.
    let customer: String?
    /// Whether it is sent with its id, so that it may be sent again. Otherwise only its events have it, as their flow.
    let isRepeatable: Bool
    /// The integers that were answered.
    var replies: [Int64] = []
    /// The orders that were answered.
    var orders: [String] = []
    /// The errors that were answered.
    var errors: [Refusal] = []
    /// Whether the user was allowed to do this at some moment of some attempt.
    var wasAllowed = false
    /// Whether the last attempt told nothing.
    var isInDoubt = false
    /// Whether some attempt was never answered.
    var wasLost = false
    /// When it was sent first.
    var sentAt: UInt64?
    /// What its user may have been.
    var roles: Set<Role> = []

    /// The order that it is about.
    var order: KnownOrder? {
        switch action {
        case .order(_, let order), .change(_, let order): order
        default: nil
        }
    }

    /// Whether its user may have spoken for a party.
    func maySpeak(for party: String) -> Bool {
        roles.contains(.admin) || roles.contains(party == "customer" ? .customer : .merchant)
    }

    var isTip: Bool { if case .tip = action { true } else { false } }
    var isAnswered: Bool { !replies.isEmpty || !orders.isEmpty }

    /// Whether it is accepted where it changes nothing.
    var mayChangeNothing: Bool {
        switch action {
        case .add, .checkOut, .stock(_, .more): false
        case .clear, .tip, .open, .close, .hide, .show, .remove, .price, .order, .change, .stock, .promote: true
        }
    }

    /// What a client says so that its events are known.
    var mark: [String] { [isRepeatable ? "ID" : "FLOW", id] }

    init(id: String, stream: String, _ action: Action, of customer: String? = nil, isRepeatable: Bool = true) {
        self.id = id
        self.isRepeatable = isRepeatable
        self.customer = customer
        self.stream = stream
        self.action = action
    }
}

/// What docs/protocol.md, docs/reference/ and docs/users.md say, once more.
enum Model {
    /// The last one may be removed.
    static let outlets = ["o0", "o1", "o2"]
    static let removable = "o2"
    /// What carts are named after.
    static let carts = ["c0-a", "c0-b", "c0-c", "c1-a", "c1-b", "c1-c", "c2-a"]

    /// Orders of a cart go to one outlet.
    static func outlet(of cart: String) -> String { "o\(cart.dropFirst().prefix(1))" }

    /// Whose carts have such a name, if they are anybody's.
    static func customer(of cart: String) -> String { String(cart.prefix(2)) }
    static let customers = ["c0", "c1", "c2"]
    /// The text that customers are given as a reason, and the name that is on their orders.
    static let reason = "for a reason"
    static let anyName = "Ann"

    /// What a user is told.
    enum Verdict {
        case allowed
        /// `NOPERM`.
        case refused
        /// That there is no such order.
        case hidden
        /// It depends on how far the server knows the order.
        case allowedOrRefused
    }

    static func verdict(on kind: Request.Kind, of person: Person) -> Verdict {
        guard person.isEnabled else { return .refused }
        switch kind {
        case .order(let order): return knows(person, order) ? .allowed : .hidden
        case .write(let write):
            guard may(person, write) else { return .refused }
            guard let order = write.order else { return .allowed }
            return knows(person, order) ? .allowed : .hidden
        case .subscribe(_, let order?):
            if person.grants.isEmpty { return .allowed }
            guard knows(person, order) else { return .refused }
            // A customer may listen to an order while it is open, if it says no customer.
            return .allowedOrRefused
        default: return may(person, kind) ? .allowed : .refused
        }
    }

    private static func may(_ person: Person, _ kind: Request.Kind) -> Bool {
        switch kind {
        case .hello, .echo, .write, .order: true
        case .count(let cart), .cart(let cart), .quote(let cart): reads(person, cart: cart)
        case .home(let outlet): reads(person, outlet: outlet)
        case .kitchen(let outlet, _), .stock(let outlet, _), .takings(let outlet): runs(person, outlet)
        case .orders(let outlet, _): person.role == .merchant ? runs(person, outlet) : person.grants.isEmpty
        case .ordersOf(let customer, _):
            person.grants.isEmpty || person.role == .customer && owns(person, customer)
        case .outlets: person.role != .merchant || person.grants.isEmpty
        case .subscribe(let channel, _):
            switch channel.split(separator: ":").map(String.init) {
            case let parts where parts[0] == "cart": reads(person, cart: parts[1])
            case let parts where parts[0] == "kitchen": person.grants.isEmpty || runs(person, parts[1])
            case let parts: reads(person, outlet: parts[1])
            }
        }
    }

    private static func may(_ person: Person, _ write: Write) -> Bool {
        let id = String(write.stream.split(separator: "-", maxSplits: 1)[1])
        switch write.action {
        case .add, .clear, .tip, .checkOut:
            return person.role == .admin || person.role == .customer && owns(person, id)
        case .open, .close, .hide, .show, .remove, .price, .stock, .promote: return runs(person, id)
        case .order(.cancel(let party, _, _), _), .change(.propose(_, let party, _), _),
            .change(.decline(let party), _):
            return person.role == .admin || person.role == (party == "customer" ? .customer : .merchant)
        case .change(.agree, _): return person.role != .auditor
        case .order, .change(.noted, _): return person.role == .admin || person.role == .merchant
        }
    }

    private static func owns(_ person: Person, _ cart: String) -> Bool {
        person.grants.isEmpty || person.grants.contains { cart == $0 || cart.hasPrefix($0 + "-") }
    }

    private static func runs(_ person: Person, _ outlet: String) -> Bool {
        person.role == .admin || person.role == .merchant && (person.grants.isEmpty || person.grants.contains(outlet))
    }

    private static func knows(_ person: Person, _ order: KnownOrder) -> Bool {
        person.grants.isEmpty || (person.role == .merchant ? runs(person, order.outlet) : owns(person, order.cart))
    }

    private static func reads(_ person: Person, cart: String) -> Bool {
        person.role == .customer ? owns(person, cart) : person.role != .merchant || person.grants.isEmpty
    }

    private static func reads(_ person: Person, outlet: String) -> Bool {
        person.role != .merchant || person.grants.isEmpty || person.grants.contains(outlet)
    }

    /// The codes of errors that may be answered, besides those about who may do what. Whether an order may have been
    /// in a state that leads to them is judged in the end.
    ///
    /// - Parameter forgotten: the customers who were forgotten by then.
    static func mayFail(_ kind: Request.Kind, with code: String, _ forgotten: Set<String>) -> Bool {
        switch kind {
        case .hello(let isRight): return !isRight && code == "BUSY"
        case .echo: return false
        case .count, .cart, .quote, .home, .order, .kitchen, .orders, .ordersOf, .outlets, .subscribe, .takings:
            return ["UNAVAILABLE", "BUSY"].contains(code)
        case .stock: return ["UNAVAILABLE", "BUSY", "NOTFOUND"].contains(code)
        case .write(let write):
            if ["UNKNOWN", "UNAVAILABLE", "BUSY"].contains(code) { return true }
            // A reason is given in the name of the order's customer.
            if code == "FORGOTTEN" {
                if case .order(_, let order) = write.action { return forgotten.contains(customer(of: order.cart)) }
                return write.customer.map(forgotten.contains) ?? false
            }
            switch write.action {
            case .add(let choice, _):
                return ["CLOSED", "LIMIT", "STATE", "NOTFOUND", "SOLDOUT"].contains(code)
                    || choice.isTooMuch && code == "CHOICE"
            case .checkOut:
                return ["CLOSED", "STATE", "TOTALCHANGED", "NOTFOUND", "SOLDOUT", "PROMO"].contains(code)
            case .clear, .tip: return code == "STATE"
            case .open, .close, .hide, .show, .price, .promote, .stock(_, .left), .stock(_, .uncounted):
                return code == "NOTFOUND"
            case .stock(_, .more): return ["NOTFOUND", "STATE"].contains(code)
            case .remove: return false
            case .order: return ["STATE", "LIMIT", "IDMISMATCH", "NOTFOUND"].contains(code)
            case .change(let step, _): return step.codes.contains(code)
            }
        }
    }
}
