internal import JSONText
internal import LineProtocol

/// What the server knew of an outlet before the import: the parts of `OUTLET.GET` that matter to it.
enum OutletStanding: Equatable {
    case unknown
    case known(version: Int64, status: String, currency: String)

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
        self = .known(version: version, status: status, currency: currency)
    }

    /// Whether the import is to open the outlet: when it is new, or was registered by an import that was
    /// interrupted before it opened it. What a merchant has closed since stays closed, unless all are to be
    /// opened.
    func isToBeOpened(openingAll: Bool) -> Bool {
        switch self {
        case .unknown: true
        case .known(let version, let status, _):
            (status == "closed" && version == 1) || (openingAll && status != "open")
        }
    }
}
