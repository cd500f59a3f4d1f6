internal import LineClient
public import LineProtocol

/// What the command line of one import asks for.
public struct ImportOptions: Equatable, Sendable {
    /// What is imported, with the options that only it has.
    enum Source: Equatable {
        case outlets(OutletImportOptions)
        case recipes(RecipeImportOptions)
        case menu(outlet: String)
    }

    var source: Source
    var file: String
    var isStrict: Bool
    /// The server that the file is loaded into.
    public var server: ServerAddress
    var connection = ConnectionOptions()
}

/// How rows become outlets.
struct OutletImportOptions: Equatable {
    var map: ColumnMap
    var currency: String
    var timeZone: String
    var keepsRatings = false
    var opensAll = false
}

/// How recipes become a menu.
struct RecipeImportOptions: Equatable {
    var outlet: String
    var currency: String
    var timeZone: String
    /// Of every item, in minor units.
    var price: Int64
    var name: String
}
