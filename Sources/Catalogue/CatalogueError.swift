/// Why a query cannot be answered.
public enum CatalogueError: Error, Equatable, Sendable {
    /// A word that is unknown, missing or given twice, and which.
    case syntax(String)
    /// A value that is out of range or malformed, with the name of its filter or option.
    case invalid(String, String)
}
