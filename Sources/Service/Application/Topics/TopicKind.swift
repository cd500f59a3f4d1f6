internal import Catalogue
internal import Projections
package import TextFormats
package import Users

/// A kind of topic that clients can subscribe to. To add one, add an entry to ``all``, and to `TopicRendering.all` how
/// its documents are made.
package struct TopicKind: Sendable {
    /// What its channels begin with, before a colon and the id.
    package let prefix: String
    /// The member of its messages that has the id.
    package let member: StaticString
    /// What its ids name.
    package let subject: Subject
    /// Its documents, whose changes its messages tell.
    package let document: JSONSchema
    /// Whether a document of one revision is always the same. If not, a message within one revision, or one that was
    /// held back, has the whole document: a client that read the document in between may know the change already, and
    /// a patch would not fit.
    package let isRevisionWhole: Bool
    /// Whether each connection means something else by the same id, where it is not shared.
    package var isOfConnection = false
    /// Whether the first message to a subscriber has the whole document, where no command gives it with its revision.
    package var greetsWithDocument = false

    /// Every kind of topic that clients can name.
    package static let all = [home, cart, cartCount, order, kitchen, browse]

    /// An outlet's home, as `OUTLET.HOME` answers it.
    package static let home = TopicKind(
        prefix: "home", member: "outlet", subject: .outlet, document: HomeDocument.schema, isRevisionWhole: true)

    /// A cart, as `CART.GET` answers it: its problems come from the outlet and the menu.
    package static let cart = TopicKind(
        prefix: "cart", member: "cart", subject: .cart, document: CartDocument.schema, isRevisionWhole: false)

    /// The number on a cart's badge, as `CART.COUNT` answers it. It is known without the cart, so its revision is a
    /// position.
    package static let cartCount = TopicKind(
        prefix: "cart_count", member: "cart", subject: .cart, document: .count, isRevisionWhole: true,
        greetsWithDocument: true)

    /// An order, as `ORDER.GET` answers it.
    package static let order = TopicKind(
        prefix: "order", member: "order", subject: .order, document: OrderDocument.schema, isRevisionWhole: true)

    /// What a kitchen sees, as `KITCHEN` answers it. It comes from orders of any partition, so its revision is how many
    /// events all of them have.
    package static let kitchen = TopicKind(
        prefix: "kitchen", member: "kitchen", subject: .kitchen, document: KitchenDocument.schema,
        isRevisionWhole: true, greetsWithDocument: true)

    /// The answer to a saved query.
    package static let browse = TopicKind(
        prefix: "browse", member: "browse", subject: .savedQuery,
        document: .oneOf([Catalogue.savedSchema(of: .items), Catalogue.savedSchema(of: .outlets)]),
        isRevisionWhole: true, isOfConnection: true,
        greetsWithDocument: true)

    /// The answer to a question, which is kept up to date for those who listen.
    package static let question = TopicKind(
        prefix: "question", member: "browse", subject: .catalogue, document: browse.document, isRevisionWhole: true,
        greetsWithDocument: true)
}

extension TopicKind {
    /// The schema of its messages.
    package var message: JSONSchema {
        JSONSchema.object([
            .member(member.description, .identifier), .member("from", .count, "the revision that it begins with"),
            .member("to", .count, "the revision that it leads to"),
            .optional("patch", JSONPatch.schema, "there unless there is an error"),
            .optional(
                "error",
                .object([.member("code", .words(["CORRUPT", "LIMIT"])), .member("message", .string)])
                    .named("MessageError"), "why the document cannot be shown"),
        ]).named("\(member.description.prefix(1).uppercased())\(member.description.dropFirst())Message")
    }

    /// The schema of every message.
    package static var messages: JSONSchema {
        var messages: [JSONSchema] = []
        for kind in all where !messages.contains(kind.message) { messages.append(kind.message) }
        return .oneOf(messages)
    }
}
