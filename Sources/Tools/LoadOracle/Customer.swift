/// A customer as the oracle knows it, from the calls it made and their replies.
package final class Customer {
    package let index: Int
    /// Its current cart.
    package internal(set) var cart: CartModel
    /// The cart of its last order.
    package internal(set) var lastOrder: CartModel?
    /// The home that it read last, whose changes it may ask for.
    package internal(set) var home: (outlet: Int, revision: Int64)?
    /// The item that it read last by a digest.
    package internal(set) var item: KeptItem?
    /// The quote that it was given last, if its cart was at a kitchen.
    package internal(set) var quote: Quote?
    /// The list of orders whose pages it turns, if there is a next one.
    package internal(set) var pages: OrderPages?
    /// Whether its cart can no longer be judged, because the server made a mistake with it.
    package internal(set) var isBroken = false
    /// Whether its last call was never answered.
    var isWaiting = false
    let writes = WriteLedger()
    var history = History()

    init(_ index: Int) {
        self.index = index
        cart = CartModel(CartID(shopper: index, number: 0))
    }
}
