import TiffinClient

let store = try Store(CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:7380")
let found = try await store.searchItems(["text": "pie", "city": "edinburgh", "open": true, "sort": "price"])
let pie = found.items[0]
try await store.addToCart(outlet: pie.outlet, item: pie.item, quantity: 2, note: "no peas")
guard let quote = try await store.getQuote(), let total = quote.total, let currency = quote.currency else {
    fatalError("nothing is in the cart")
}
print("2 × \(pie.name): \(Money(total, currency))")
do {
    let order = try await store.placeOrder(quote: quote.quote)
    for try await update in store.followOrder(order) {
        guard case .live(let document, _) = update else { continue }
        print("order \(order) is \(document.status)")
        if document.status != .placed { break }
    }
} catch let error as TiffinError where error.code == .totalChanged || error.code == .soldOut {
    print("show it again: \(error.message)")
}
