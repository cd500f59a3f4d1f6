/// An outlet's home as of a revision.
package struct Home {
    /// The position of the last event of the outlet or its menu.
    package var revision: Int64
    /// The document, without the count of a cart.
    package var document: [UInt8]

    package init(revision: Int64, document: [UInt8]) {
        self.revision = revision
        self.document = document
    }
}

/// What leads a client from the home that it has to today's.
package enum HomeUpdate {
    /// A JSON Patch from one revision's document to another's: empty where both are the same.
    case patch(from: Int64, to: Int64, [UInt8])
    /// The whole document, where the revision is none or is too old.
    case whole(Home)
}
