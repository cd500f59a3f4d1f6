internal import Domain

extension Rejection.Subject {
    /// What commands call the argument; nil for a field, which is named as it is.
    var argument: String? {
        switch self {
        case .field: nil
        case .address: "ADDRESS"
        case .amount: "minor"
        case .before: "BEFORE"
        case .name: "NAME"
        case .note: "NOTE"
        case .partOf: "OF"
        case .phone: "PHONE"
        case .quantity: "QTY"
        case .readyBy: "READY"
        case .reason: "REASON"
        case .service: "service"
        case .size: "SIZE"
        case .table: "TABLE"
        case .until: "UNTIL"
        case .wanted: "FOR"
        }
    }
}

extension Rejection.Action {
    /// The command that does it.
    var command: String {
        switch self {
        case .openOutlet: "OUTLET.OPEN"
        case .priceOption: "MENU.OPTION.PRICE"
        case .addToCart: "CART.ADD"
        case .showCart: "CART.GET"
        case .countCart: "CART.COUNT"
        case .chooseService: "CART.SERVICE"
        case .acceptOrder: "ORDER.ACCEPT"
        case .rejectOrder: "ORDER.REJECT"
        case .prepareOrder: "ORDER.PREPARE"
        case .readyOrder: "ORDER.READY"
        case .completeOrder: "ORDER.COMPLETE"
        case .delayOrder: "ORDER.DELAY"
        case .cancelOrder: "ORDER.CANCEL"
        case .refundOrder: "ORDER.REFUND"
        case .showOrder: "ORDER.GET"
        case .agreeChange: "ORDER.AGREE"
        case .declineChange: "ORDER.DECLINE"
        }
    }
}
