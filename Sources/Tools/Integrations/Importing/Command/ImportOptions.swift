internal import LineClient
package import LineProtocol

/// What the command line of one import asks for.
package struct ImportOptions: Equatable, Sendable {
    /// What is imported, with the options that only it has.
    enum Source: Equatable {
        case outlets(OutletImportOptions)
        case recipes(RecipeImportOptions)
        case menu(MenuImportOptions)

        /// Whether a menu may be replaced by one without items.
        var allowsEmpty: Bool {
            switch self {
            case .outlets: false
            case .recipes(let recipes): recipes.allowsEmpty
            case .menu(let menu): menu.allowsEmpty
            }
        }
    }

    var source: Source
    var input: ImportInput
    /// How long an address on the web may take to answer in full.
    var seconds = 30
    /// The most bytes that are read.
    var maximumLength = 256 << 20
    /// The server that the file is loaded into.
    package var server: ServerAddress
    var connection = ConnectionOptions()
}

/// How rows become outlets.
struct OutletImportOptions: Equatable {
    var map: ColumnMap
    var currency: String
    var timeZone: String
    /// What stands for "not rated yet" in the file.
    var unrated: Set<RatingMark> = []
    var opensAll = false
    /// Whether nothing is taken if any row is malformed.
    var isStrict = false
}

/// How recipes become a menu.
struct RecipeImportOptions: Equatable {
    var outlet: String
    var currency: String
    var timeZone: String
    /// Of every item, in minor units.
    var price: Int64
    var name: String
    /// Whether good recipes are taken if others are malformed.
    var isPartial = false
    var allowsEmpty = false
}

/// How a document becomes a menu.
struct MenuImportOptions: Equatable {
    var outlet: String
    /// Whether a document without items may replace a menu that has some.
    var allowsEmpty = false
}
