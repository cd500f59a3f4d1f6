/// Why a question cannot be asked.
public enum CatalogueError: Error, Equatable, Sendable {
    /// A word that is not known, missing or given twice, and which.
    case syntax(String)
    /// A value that is out of range or malformed, with the name of its filter or option.
    case invalid(String, String)
}
