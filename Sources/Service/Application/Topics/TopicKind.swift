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
    package static let home = TopicKind(prefix: "home", member: "outlet", subject: .outlet, isRevisionWhole: true)

    /// A cart, as `CART.GET` answers it: its problems come from the outlet and the menu.
    package static let cart = TopicKind(prefix: "cart", member: "cart", subject: .cart, isRevisionWhole: false)

    /// The number on a cart's badge, as `CART.COUNT` answers it. It is known without the cart, so its revision is a
    /// position.
    package static let cartCount = TopicKind(
        prefix: "cart_count", member: "cart", subject: .cart, isRevisionWhole: true, greetsWithDocument: true)

    /// An order, as `ORDER.GET` answers it.
    package static let order = TopicKind(prefix: "order", member: "order", subject: .order, isRevisionWhole: true)

    /// What a kitchen sees, as `KITCHEN` answers it. It comes from orders of any partition, so its revision is how many
    /// events all of them have.
    package static let kitchen = TopicKind(
        prefix: "kitchen", member: "kitchen", subject: .kitchen, isRevisionWhole: true, greetsWithDocument: true)

    /// The answer to a saved query.
    package static let browse = TopicKind(
        prefix: "browse", member: "browse", subject: .savedQuery, isRevisionWhole: true, isOfConnection: true,
        greetsWithDocument: true)

    /// The answer to a question, which is kept up to date for those who listen.
    package static let question = TopicKind(
        prefix: "question", member: "browse", subject: .catalogue, isRevisionWhole: true, greetsWithDocument: true)
}
