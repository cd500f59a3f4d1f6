internal import JSONText
internal import LineClient
internal import LineProtocol

/// Puts a menu, and before it registers and opens the outlet where that is wanted.
struct MenuExchange: ImportExchange {
    /// An outlet to be registered, unless it is there already.
    struct Registration: Equatable {
        var name: String
        var currency: String
        var timeZone: String

        /// The document of `OUTLET.PUT`.
        var document: String {
            var json = JSONWriter()
            json.beginObject()
            json.field("name", name)
            json.field("currency", currency)
            json.field("timeZone", timeZone)
            json.endObject()
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }

    enum Question: Equatable {
        case look
        case register(Registration)
        case open
        case menuBefore
        case put
        case menuAfter
    }

    /// What became of the menu.
    struct Outcome: Equatable {
        var registered = false
        var opened = false
        /// The version of the menu's stream once it is put.
        var version: Int64?
        var changed = false
        var problems: [Problem] = []
    }

    /// The menu is asked for before and after: it changed when the answers differ.
    private static let steps: [Question] = [.menuBefore, .put, .menuAfter]

    private let outlet: String
    private let menu: String
    private let registration: Registration?
    private var upcoming: [Question]
    private var before: Reply?
    private(set) var outcome = Outcome()

    init(outlet: String, menu: String, registration: Registration? = nil) {
        self.outlet = outlet
        self.menu = menu
        self.registration = registration
        upcoming = registration == nil ? MenuExchange.steps : [.look]
    }

    var finishedCount: Int { outcome.version == nil ? 0 : 1 }

    mutating func next() -> Question? {
        upcoming.isEmpty ? nil : upcoming.removeFirst()
    }

    func command(for question: Question) -> [String] {
        switch question {
        case .look: ["OUTLET.GET", outlet]
        case .register(let registration): ["OUTLET.PUT", outlet, registration.document]
        case .open: ["OUTLET.OPEN", outlet]
        case .menuBefore, .menuAfter: ["MENU.GET", outlet]
        case .put: ["MENU.PUT", outlet, menu]
        }
    }

    mutating func receive(_ reply: Reply, to question: Question) throws(ConnectionError) {
        if let refusal = ConnectionError(fatal: reply) { throw refusal }
        switch (question, reply) {
        case (.look, _):
            guard let standing = OutletStanding(reply) else { return fail(question, reply) }
            plan(standing)
        case (.register, .integer):
            outcome.registered = true
            upcoming = [.open] + MenuExchange.steps
        case (.open, .integer):
            outcome.opened = true
        case (.menuBefore, _):
            before = reply
        case (.put, .integer(let version)):
            outcome.version = version
        case (.menuAfter, _):
            outcome.changed = outcome.version != nil && reply != before
        case (.register, _), (.open, _), (.put, _):
            fail(question, reply)
        }
    }

    private mutating func plan(_ standing: OutletStanding) {
        guard let registration else { return }
        switch standing {
        case .unknown:
            upcoming = [.register(registration)]
        case .known(_, _, let currency) where currency != registration.currency:
            let reason = "is in \(currency), and cannot have prices in \(registration.currency)"
            outcome.problems.append(Problem(field: outlet, reason: reason))
        case .known:
            upcoming = (standing.isToBeOpened(openingAll: false) ? [.open] : []) + MenuExchange.steps
        }
    }

    private mutating func fail(_ question: Question, _ reply: Reply) {
        outcome.problems.append(Problem(row: nil, refused: command(for: question)[0], reply))
    }
}
