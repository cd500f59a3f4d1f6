internal import CommandHandling
internal import Domain
internal import EventLog
internal import Projections
internal import Users

/// A document whose texts are opened when it is given to somebody, and not before: whoever waits for the same one may
/// ask after its customer was forgotten.
struct SealedDocument: Sendable {
    /// Whose key opens the texts in it; nil where nothing is sealed.
    let owner: TextOwner?
    /// The cart and the outlet of an order: they say who may see it.
    private(set) var order: (cart: Identifier, outlet: Identifier)?
    /// The document, with its texts as they are shown.
    let bytes: @Sendable (TextOpener) -> [UInt8]

    init(_ owner: TextOwner?, _ bytes: @escaping @Sendable (TextOpener) -> [UInt8]) {
        self.owner = owner
        self.bytes = bytes
    }

    /// A document in which nothing is sealed.
    init(_ bytes: [UInt8]) {
        self.init(nil) { _ in bytes }
    }

    /// An order as `ORDER.GET` answers it; nil where it was not placed.
    init?(of order: Identifier, _ committed: CommittedState) {
        guard case .order(.placed(let book)) = committed.state else { return nil }
        self.init(book.textOwner) { texts in
            OrderDocument.bytes(
                of: order, book: book, version: committed.version, updatedAt: committed.updatedAt,
                texts: texts)
        }
        self.order = (book.placement.cart, book.placement.outlet)
    }

    /// Whether a user who is confined may see it. Only an order can be somebody else's although its id was within.
    func isWithin(_ confinement: Confinement?) -> Bool {
        guard let confinement, let order else { return true }
        return confinement.allowsOrder(from: order.cart, at: order.outlet)
    }
}
