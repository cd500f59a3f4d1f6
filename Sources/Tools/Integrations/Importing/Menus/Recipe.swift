/// A recipe, to be sold as an item of a menu.
struct Recipe: Equatable {
    /// A UUID, as the file spells it.
    var id: String
    var name: String
    var cuisine: String
    var imageSmall: String?
    var imageLarge: String?
    /// Where the recipe is from.
    var source: String?
    /// A film of how it is made.
    var video: String?
}
