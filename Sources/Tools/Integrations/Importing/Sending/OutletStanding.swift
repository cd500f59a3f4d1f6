internal import LineProtocol
internal import TextFormats

/// What the server knew of an outlet before the import.
enum OutletStanding: Equatable {
    case unknown
    case known(Outlet)

    /// The answer to `OUTLET.GET`, and the parts of it that matter to an import.
    struct Outlet: Equatable {
        var document: JSONValue
        var version: Int64
        var status: String
        var currency: String
    }

    /// What an answer to `OUTLET.GET` says; nil when that is none.
    init?(_ reply: Reply) {
        if reply == .null {
            self = .unknown
            return
        }
        guard let text = reply.string, let json = try? JSONValue(Array(text.utf8)),
            case .number(let number)? = json["version"], let version = Int64(number),
            case .string(let status)? = json["status"],
            case .string(let currency)? = json["currency"]
        else { return nil }
        self = .known(Outlet(document: json, version: version, status: status, currency: currency))
    }

    /// Its version; 0 where there is none.
    var version: Int64 { if case .known(let outlet) = self { outlet.version } else { 0 } }

    /// The answer to `OUTLET.GET`; empty where there is none.
    var document: JSONValue { if case .known(let outlet) = self { outlet.document } else { .object([]) } }

    /// Whether the import is to open the outlet: when it is new, or was registered by an import that was
    /// interrupted before it opened it. What a merchant has closed since stays closed, unless all are to be
    /// opened.
    func isToBeOpened(openingAll: Bool) -> Bool {
        switch self {
        case .unknown: true
        case .known(let outlet):
            (outlet.status == "closed" && outlet.version == 1) || (openingAll && outlet.status != "open")
        }
    }
}
