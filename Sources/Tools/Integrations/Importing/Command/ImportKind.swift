internal import CommandLineOptions

/// What can be imported.
package enum ImportKind: String, CaseIterable, Sendable {
    case outlets
    case recipes
    case menu

    /// One line for the overview of kinds.
    var summary: String {
        switch self {
        case .outlets: "outlets, one per row of a CSV file"
        case .recipes: "recipes of a JSON file, made into an outlet's menu"
        case .menu: "an outlet's menu, as docs/menus.md describes it"
        }
    }

    /// What is typed behind `tiffin import`.
    var syntax: CommandSyntax {
        CommandSyntax(
            "tiffin import \(rawValue)", operands: ["<file>"],
            options: options + ImportOption.reading + ImportOption.connecting)
    }

    private var options: [any DeclaredOption] {
        switch self {
        case .outlets:
            [
                ImportOption.map, ImportOption.currency, ImportOption.timeZone, ImportOption.unrated,
                ImportOption.open, ImportOption.strict,
            ]
        case .recipes:
            [
                ImportOption.outlet, ImportOption.currency, ImportOption.price, ImportOption.name,
                ImportOption.timeZoneOfRecipes, ImportOption.partial, ImportOption.allowEmpty,
            ]
        case .menu: [ImportOption.outlet, ImportOption.allowEmpty]
        }
    }
}
