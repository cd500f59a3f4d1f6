// A day at an outlet: a merchant opens it and changes its menu, a customer orders, and both see what comes of it.
//
//     swift run --package-path Clients/swift day STORE CONSOLE OUTLET
//
// With users, TIFFIN_USER and TIFFIN_TOKEN are those of an admin. The tests run it while every connection is cut again
// and again, and look into the log for what was done twice or not at all.

import Foundation
import TiffinClient

let outlet = CommandLine.arguments[3]
let environment = ProcessInfo.processInfo.environment
let store = try Store(CommandLine.arguments[1])
let console = try Console(
    CommandLine.arguments[2], user: environment["TIFFIN_USER"], token: environment["TIFFIN_TOKEN"])

func item(_ id: String, _ price: Int) -> ItemInput {
    ItemInput(kind: .menuItem, name: id.capitalized, id: id, maxQuantity: 20, price: price)
}

func openOutlet() async throws {
    let place = OutletInput(
        name: "The Bakery", currency: "GBP", timeZone: "Europe/London", area: "Walcot", city: "Bath",
        cuisines: ["British"])
    let baked = SectionInput(
        title: "Baked", kind: .menuItems, id: "baked", items: [item("pie", 1200), item("roll", 350)])
    let drinks = SectionInput(
        title: "Drinks", kind: .menuItems, id: "drinks", items: [item("tea", 250), item("milk", 200)])
    try await console.putOutlet(outlet, document: place)
    try await console.putMenu(outlet, document: MenuInput(sections: [baked, drinks]))
    try await console.openOutlet(outlet)
    print("\(outlet) is open")
}

/// Whoever follows the home sees what whoever reads it sees.
func changeMenu() async throws {
    var homes = store.followHome(outlet).makeAsyncIterator()
    _ = try await homes.next()
    try await console.setItemPrice(outlet: outlet, item: "pie", price: 1250)
    let drinks = SectionInput(title: "Hot drinks", kind: .menuItems)
    try await console.putSection(outlet: outlet, section: "drinks", document: drinks, before: "baked")
    try await console.putItem(
        outlet: outlet, section: "baked", item: "bun", document: item("bun", 300), before: "roll")
    try await console.removeItem(outlet: outlet, item: "milk")
    let home = try await store.getHome(outlet)
    while let update = try await homes.next() {
        if case .live(home, _) = update { break }
    }
    let menu = try await store.getMenu(outlet)
    print("the home was followed: \(menu.sections.map(\.id).joined(separator: ", "))")
}

/// Orders a pie and follows the order until it was handed over, while the merchant does what is next.
func order() async throws -> String {
    let found = try await store.searchItems(["outlet": .word(outlet), "text": "pie", "limit": 1])
    try await store.addToCart(outlet: outlet, item: found.items[0].item, quantity: 2, note: "no peas")
    try await store.addToCart(outlet: outlet, item: "tea", quantity: 1)
    let cart = try await store.getCart()
    guard let tea = cart?.lines.first(where: { $0.item == "tea" })?.line else { fatalError("there is no tea") }
    try await store.setQuantity(tea, quantity: 3)
    try await store.removeLine(tea)
    try await store.setTip(amount: 100)
    do {
        _ = try await store.placeOrder(total: 1)
    } catch let error as TiffinError where error.code == .totalChanged {}
    let quote = try await store.getQuote()
    let placed = try await store.placeOrder(quote: quote?.quote)
    var seen: [OrderStatus] = []
    for try await update in store.followOrder(placed) {
        guard case .live(let order, _) = update, !seen.contains(order.status) else { continue }
        seen.append(order.status)
        switch order.status {
        case .placed: try await console.acceptOrder(placed)
        case .accepted: try await console.prepareOrder(placed)
        case .preparing: try await console.readyOrder(placed)
        case .ready: try await console.completeOrder(placed)
        default:
            print("\(seen.map(\.rawValue).joined(separator: " ")): \(Money(order.total, order.currency))")
            return placed
        }
    }
    fatalError("the order was not followed to its end")
}

/// The same tap twice is one tap, and what is sold out cannot be had.
func beRefused() async throws {
    try await store.addToCart(outlet: outlet, item: "roll", quantity: 1, key: "tap-1")
    let count = try await store.addToCart(outlet: outlet, item: "roll", quantity: 1, key: "tap-1")
    print("tapped twice: \(count)")
    try await console.suspendItem(outlet: outlet, item: "roll")
    do {
        try await store.addToCart(outlet: outlet, item: "roll", quantity: 1)
    } catch let error as TiffinError {
        print("refused: \(error.code), \(error.status)")
    }
    try await store.clearCart()
}

try await openOutlet()
try await changeMenu()
var orders: [String] = []
for _ in 0..<3 { orders.append(try await order()) }
try await beRefused()
let again = try Store(CommandLine.arguments[1], session: store.session)
print("\(try await again.listOrders().orders.count) orders")
print(orders.joined(separator: " "))
