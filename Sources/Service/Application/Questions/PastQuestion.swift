package import Domain

/// A document as it was.
package enum PastQuestion: Hashable, Sendable {
    /// The home of an outlet at a revision; null where the outlet has no such revision.
    case revision(Int64, of: Identifier)
    /// What `OUTLET.HOME` would have answered.
    case home(of: Identifier, cart: Identifier?, at: Moment)
    /// What `CART.GET` would have answered.
    case cart(Identifier, at: Moment)
    /// What `ORDER.GET` would have answered.
    case order(Identifier, at: Moment)
}
