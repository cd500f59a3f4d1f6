/// An outlet's home as of a revision.
struct Home {
    /// The position of the last event of the outlet or its menu.
    var revision: Int64
    /// The document, without the count of a cart.
    var document: [UInt8]
}

/// What leads somebody who has a home to today's.
enum HomeUpdate {
    /// A JSON Patch from one revision's document to another's: empty where both are the same.
    case patch(from: Int64, to: Int64, [UInt8])
    /// The whole document, where the revision is none or is too old.
    case whole(Home)
}
