/// One line of a cart: an item with its options and note, and how many of it.
public struct CartLine: Equatable, Sendable {
    /// What a recorded quantity can be: far beyond today's limit, so that no change of that limit puts an old
    /// cart into quarantine, and small enough that no count overflows.
    static let recordableQuantities = 1...1_000_000

    /// The most different options of a line.
    public static let maximumOptions = 20

    /// The line's id in its cart; see ``CartLine/identifier(item:options:taken:)``.
    public var id: Text
    /// The item.
    public var item: Identifier
    /// Its name when it was added.
    public var name: Text
    /// 1–99.
    public var quantity: Int
    /// What one cost with its options when it was last added.
    public var unitPrice: Amount
    /// The chosen options, in the order of their ids.
    public var options: [LineOption]
    /// What the customer wants the kitchen to know.
    public var note: PersonalText?

    /// A line.
    public init(
        id: Text, item: Identifier, name: Text, quantity: Int, unitPrice: Amount,
        options: [LineOption] = [], note: PersonalText? = nil
    ) {
        self.id = id
        self.item = item
        self.name = name
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.options = options
        self.note = note
    }

    /// What the line costs, or a `LIMIT` rejection.
    public func total() throws(Rejection) -> Amount { try unitPrice.multiplied(by: quantity) }

    /// Whether two lines are about the same thing: one of each joins the other.
    func isSame(as other: CartLine) -> Bool {
        item == other.item && note == other.note
            && options.elementsEqual(other.options) { $0.id == $1.id && $0.units == $1.units }
    }

    /// Takes in more of the same, at the price and with the names of today; changes nothing where that is impossible.
    mutating func add(_ more: CartLine) throws(ImpossibleEvent) {
        guard isSame(as: more) else { throw ImpossibleEvent("one line for two things: '\(id)'") }
        try CartLine.checkRecordable(quantity + more.quantity, id)
        quantity += more.quantity
        (name, unitPrice, options) = (more.name, more.unitPrice, more.options)
    }

    /// The id of a new line: the item's id, with its options behind it after `+`, as in `burger+cheese*2+large`. A
    /// line that differs only in its note gets the first free of `~2`, `~3`, … behind that.
    static func identifier(item: Identifier, options: [LineOption], taken: (Text) -> Bool) -> Text {
        let words = options.map { $0.units == 1 ? $0.id.rawValue : "\($0.id)*\($0.units)" }
        let plain = options.isEmpty ? item.text : Text(([item.rawValue] + words).joined(separator: "+"))
        guard taken(plain) else { return plain }
        let numbers = 2...(Cart.maximumLines + 1)
        // A cart has fewer lines than there are numbers, so one is free.
        return numbers.lazy.map { Text("\(plain)~\($0)") }.first { !taken($0) }!
    }

    /// Throws if no cart can ever have held that quantity of a line.
    static func checkRecordable(_ quantity: Int, _ line: Text) throws(ImpossibleEvent) {
        guard recordableQuantities.contains(quantity) else {
            throw ImpossibleEvent("a quantity of \(quantity): '\(line)'")
        }
    }
}
