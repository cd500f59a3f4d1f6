import Domain
import Testing

@Suite struct OrderTests {
    private typealias Specification = DeciderSpecification<Order>

    private static let placement = Order.Placement(
        cart: "cart-1", outlet: "o", currency: .inr,
        lines: [
            CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250),
            CartLine(id: "soup", item: "soup", name: "Soup", quantity: 3, unitPrice: 100),
        ],
        total: 800)

    @Test func `an order is placed`() {
        Specification.given().when(.place(Self.placement)).then([.placed(Self.placement)])
        #expect(Self.placement.count == 5)
    }

    @Test func `an order is placed once`() {
        Specification.given([.placed(Self.placement)])
            .when(.place(Self.placement)).thenRejected(.state)
    }

    @Test func `two placements of one order are impossible`() {
        #expect(throws: ImpossibleEvent.self) {
            try Order.state(after: [.placed(Self.placement), .placed(Self.placement)])
        }
    }

    @Test func `an order with sealed texts has a customer, and one with a customer only sealed texts`() throws {
        var placement = Self.placement
        placement.lines[0].note = "hot"
        _ = try Order.state(after: [.placed(placement)])
        placement.customer = "asha"
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: [.placed(placement)]) }
        placement.lines[0].note = .sealed("x")
        placement.name = "y"
        _ = try Order.state(after: [.placed(placement)])
        placement.customer = nil
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: [.placed(placement)]) }
        placement.lines[0].note = nil
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: [.placed(placement)]) }
    }

    @Test(arguments: [.min, -1, 0, 1_000_001, .max])
    func `an order of a quantity that no cart can hold is impossible`(_ quantity: Int) {
        var placement = Self.placement
        placement.lines[0].quantity = quantity
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: [.placed(placement)]) }
    }
}
