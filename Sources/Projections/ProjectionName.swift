/// The projections whose rows are stored.
public enum ProjectionName: String, CaseIterable, Sendable {
    case outletHome = "outlet_home"
    case cartCounts = "cart_counts"

    /// The version of the projection that this program folds.
    public var version: Int {
        switch self {
        case .outletHome: OutletHome.version
        case .cartCounts: CartCounts.version
        }
    }
}
