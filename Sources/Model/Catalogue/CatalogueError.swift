/// Why a query cannot be answered.
public enum CatalogueError: Error, Equatable, Sendable {
    /// A word that is unknown, missing or given twice, and which.
    case syntax(String)
    /// A value that is out of range or malformed, with the name of its filter or option.
    case invalid(String, String)

    /// Prices of several currencies would be compared by the filter or option of that name.
    static func needsCurrency(_ name: String) -> CatalogueError {
        .invalid(name, "needs one CURRENCY, as there are prices in several")
    }
}
