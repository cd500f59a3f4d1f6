/// What can be imported.
public enum ImportKind: String, CaseIterable, Sendable {
    case outlets
    case recipes
    case menu

    /// One line for the overview of kinds.
    var summary: String {
        switch self {
        case .outlets: "outlets, one a row of a CSV file"
        case .recipes: "recipes of a JSON file, made into an outlet's menu"
        case .menu: "an outlet's menu, as docs/protocol.md describes it"
        }
    }

    /// The options it takes, in the order of its help.
    var options: [ImportOption] {
        switch self {
        case .outlets: [.map, .currency, .timeZone, .keepRatings, .open, .strict, .server]
        case .recipes: [.outlet, .currency, .price, .name, .timeZone, .strict, .server]
        case .menu: [.outlet, .server]
        }
    }

    /// The options it cannot do without.
    var required: [ImportOption] {
        switch self {
        case .outlets: [.map, .currency, .timeZone]
        case .recipes: [.outlet, .currency, .price]
        case .menu: [.outlet]
        }
    }
}
