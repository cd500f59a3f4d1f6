package import CommandHandling
package import Domain
package import EventLog
internal import Projections
package import Users

/// A document whose texts are opened when it is given to a client, and not before: another client may ask for the same
/// one after its customer was forgotten.
package struct SealedDocument: Sendable {
    /// Whose key opens the texts in it; nil where nothing is sealed.
    package let owner: TextOwner?
    /// The cart and the outlet of an order: they say who may see it.
    package private(set) var order: (cart: Identifier, outlet: Identifier)?
    /// The document, with its texts as they are shown.
    package let bytes: @Sendable (TextOpener) -> [UInt8]

    package init(_ owner: TextOwner?, _ bytes: @escaping @Sendable (TextOpener) -> [UInt8]) {
        self.owner = owner
        self.bytes = bytes
    }

    /// A document in which nothing is sealed.
    package init(_ bytes: [UInt8]) {
        self.init(nil) { _ in bytes }
    }

    /// An order as `ORDER.GET` answers it; nil where it was not placed.
    package init?(of order: Identifier, _ committed: CommittedState) {
        guard case .order(.placed(let book)) = committed.state else { return nil }
        self.init(book.textOwner) { texts in
            OrderDocument.bytes(
                of: order, book: book, version: committed.version, updatedAt: committed.updatedAt,
                texts: texts)
        }
        self.order = (book.placement.cart, book.placement.outlet)
    }

    /// Whether a user who is confined may see it. Only an order can be somebody else's although its id was within.
    package func isWithin(_ confinement: Confinement?) -> Bool {
        guard let confinement, let order else { return true }
        return confinement.allowsOrder(from: order.cart, at: order.outlet)
    }
}
