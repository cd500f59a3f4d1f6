internal import Domain
internal import LineClient
internal import LineProtocol
internal import TextFormats

/// Puts a menu and records what its feed was found to hold; before that it registers and opens the outlet where that
/// is wanted.
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
        case put(menu: String)
        case record(FeedReport)
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

    /// Codes of errors that say what is wrong with the menu. Any other refusal says nothing about the feed.
    private static let codesOfMenus: Set<String> = ["INVALID", "LIMIT"]

    private let outlet: String
    private let menu: String?
    private let report: FeedReport
    private let registration: Registration?
    private let registersIfUnknown: Bool
    private var upcoming: [Question]
    /// Whether the outlet is to be opened as soon as it has the menu.
    private var opens = false
    private var versionBefore: Int64 = 0
    private(set) var outcome = Outcome()

    /// - Parameters:
    ///   - menu: the document of `MENU.PUT`; nil to leave the menu as it is.
    ///   - report: what is recorded if the server takes the menu.
    ///   - registration: what a new outlet is registered as; nil where the outlet has to be there.
    ///   - registersIfUnknown: whether a new outlet is registered. Otherwise nothing is done for one.
    init(
        outlet: String, menu: String?, report: FeedReport, registration: Registration? = nil,
        registersIfUnknown: Bool = true
    ) {
        self.outlet = outlet
        self.menu = menu
        self.report = report
        self.registration = registration
        self.registersIfUnknown = registersIfUnknown
        upcoming = [.look]
        if registration == nil { upcoming = steps }
    }

    /// What is done once there is an outlet. What is recorded depends on whether the menu is taken.
    private var steps: [Question] { menu.map { [.menuBefore, .put(menu: $0)] } ?? [.record(report)] }

    var finishedCount: Int { outcome.version == nil ? 0 : 1 }

    mutating func next() -> Question? {
        upcoming.isEmpty ? nil : upcoming.removeFirst()
    }

    func command(for question: Question) -> [String] {
        switch question {
        case .look: ["OUTLET.GET", outlet]
        case .register(let registration): ["OUTLET.PUT", outlet, registration.document]
        case .open: ["OUTLET.OPEN", outlet]
        case .menuBefore: ["MENU.GET", outlet]
        case .put(let menu): ["MENU.PUT", outlet, menu]
        case .record(let report): ["MENU.FEED.PUT", outlet, report.document]
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
            opens = true
            upcoming = steps
        case (.open, .integer):
            outcome.opened = true
        case (.menuBefore, _):
            versionBefore = reply.menuVersion ?? 0
        case (.put, .integer(let version)):
            outcome.version = version
            outcome.changed = version != versionBefore
            upcoming = (opens ? [.open] : []) + [.record(report)]
        case (.put, .error(let code, _)):
            fail(question, reply)
            guard MenuExchange.codesOfMenus.contains(code) else { return }
            upcoming = [.record(FeedReport(.malformed, source: report.source, problems: outcome.problems))]
        case (.record, .integer):
            break
        case (.register, _), (.open, _), (.put, _), (.record, _):
            fail(question, reply)
        }
    }

    private mutating func plan(_ standing: OutletStanding) {
        guard let registration else { return }
        switch standing {
        case .unknown:
            upcoming = registersIfUnknown ? [.register(registration)] : []
        case .known(let outlet) where outlet.currency != registration.currency:
            let reason = "is in \(outlet.currency), and cannot have prices in \(registration.currency)"
            outcome.problems.append(Problem(field: self.outlet, reason: reason))
        case .known:
            opens = standing.isToBeOpened(openingAll: false)
            upcoming = steps
        }
    }

    private mutating func fail(_ question: Question, _ reply: Reply) {
        outcome.problems += Problem.all(ofMenuRefused: command(for: question)[0], reply)
    }
}

extension Reply {
    /// The version in an answer to `MENU.GET`.
    fileprivate var menuVersion: Int64? {
        guard let text = string, let json = try? JSONValue(Array(text.utf8)),
            case .number(let number)? = json["version"]
        else { return nil }
        return Int64(number)
    }
}
