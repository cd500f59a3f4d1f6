/// One item of a menu, as the merchant describes it.
public struct MenuItem: Equatable, Sendable {
    /// The most tags an item has.
    public static let maximumTags = 50
    /// The most of one item that a cart takes, unless the item says less.
    public static let quantityLimit = 99

    /// Unique in the menu.
    public var id: Identifier
    /// The registered name of its ``ItemKind``.
    public var kind: Text
    /// What it is called.
    public var name: Text
    /// What it is, in a sentence or two.
    public var description: Text?
    /// What one costs. Without a price it is shown and cannot be ordered.
    public var price: Amount?
    /// What one costs where orders are had in some ways.
    public var servicePrices: ByService<Amount>
    /// The cuisine it belongs to.
    public var cuisine: Text?
    /// Free words to find it by.
    public var tags: [Text]
    /// URL of the image in lists.
    public var imageSmall: Text?
    /// URL of the image in full.
    public var imageLarge: Text?
    /// More images of it, in their order.
    public var images: [ItemImage]
    /// What belongs to it on the web, in its order.
    public var links: [ItemLink]
    /// The most of it that a line takes, 1–99.
    public var maxQuantity: Int?
    /// What else there is to say about it.
    public var attributes: ItemAttributes
    /// The groups of options that it offers, in their order.
    public var options: [Identifier]
    /// The tax of its outlet that is on it; nil for the outlet's first.
    public var tax: Identifier?
    /// Whether its price is that of its options together, and is divided among them where their taxes differ.
    public var isCombo: Bool
    /// The part of the day in which it can be had; nil for that of its section, or any time.
    public var daypart: Identifier?
    /// The promotion that it is shown for.
    public var promotion: Identifier?

    /// An item with everything that is not named left out.
    public init(
        id: Identifier, kind: Text, name: Text, description: Text? = nil, price: Amount? = nil,
        cuisine: Text? = nil, tags: [Text] = [], imageSmall: Text? = nil, imageLarge: Text? = nil,
        images: [ItemImage] = [], links: [ItemLink] = [], maxQuantity: Int? = nil,
        attributes: ItemAttributes = ItemAttributes(), options: [Identifier] = [], tax: Identifier? = nil,
        servicePrices: ByService<Amount> = ByService(), isCombo: Bool = false, daypart: Identifier? = nil,
        promotion: Identifier? = nil
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.description = description
        self.price = price
        self.servicePrices = servicePrices
        self.cuisine = cuisine
        self.tags = tags
        self.imageSmall = imageSmall
        self.imageLarge = imageLarge
        self.images = images
        self.links = links
        self.maxQuantity = maxQuantity
        self.attributes = attributes
        self.options = options
        self.tax = tax
        self.isCombo = isCombo
        self.daypart = daypart
        self.promotion = promotion
    }

    /// The bytes of all its texts and attributes.
    var bytes: Int {
        let needed = id.rawValue.utf8.count + kind.utf8.count + name.utf8.count
        let details = (description?.utf8.count ?? 0) + (cuisine?.utf8.count ?? 0)
        let images = (imageSmall?.utf8.count ?? 0) + (imageLarge?.utf8.count ?? 0)
        let more = self.images.reduce(0) { $0 + $1.bytes } + links.reduce(0) { $0 + $1.bytes }
        func bytes(_ id: Identifier?) -> Int { id?.rawValue.utf8.count ?? 0 }
        let names = bytes(tax) + bytes(daypart) + bytes(promotion)
        let choices = options.reduce(names) { $0 + bytes($1) }
        return tags.reduce(needed + details + images + more + attributes.bytes + choices) { $0 + $1.utf8.count }
    }

    /// Rejects an item with values out of range, naming the fields.
    func validate() throws(Rejection) {
        var problems = ProblemList()
        try check(at: "", &problems)
        try problems.finish()
    }

    /// Notes every value out of range by its field below `path` (empty, or ending in a dot).
    func check(at path: String, _ problems: inout ProblemList) throws(Rejection) {
        let registered = ItemKind.named(kind)
        try problems.note { () throws(Rejection) in
            try TextRules.check(kind, "\(path)kind", TextRules.name)
            guard registered == nil else { return }
            let known = ItemKind.all.map(\.name.string).joined(separator: ", ")
            throw .invalid("\(path)kind", "unknown item kind '\(kind)'; known are \(known)")
        }
        try problems.note { () throws(Rejection) in try TextRules.check(name, "\(path)name", TextRules.name) }
        try problems.note { () throws(Rejection) in
            try TextRules.check(description, "\(path)description", TextRules.description)
        }
        try problems.note { () throws(Rejection) in
            if let price {
                try price.check("\(path)price")
            } else if registered?.needsPrice == true, options.isEmpty {
                throw .invalid("\(path)price", "is missing, and a \(kind) needs one")
            }
        }
        for (service, price) in servicePrices.list {
            try problems.note { () throws(Rejection) in try price.check("\(path)prices.\(service.rawValue)") }
        }
        if price == nil, !servicePrices.isEmpty {
            problems.add("\(path)prices: must be left out where there is no price beside them")
        }
        try problems.note { () throws(Rejection) in try TextRules.check(cuisine, "\(path)cuisine", TextRules.line) }
        try problems.note { () throws(Rejection) in
            try TextRules.check(tags, "\(path)tags", atMost: MenuItem.maximumTags)
        }
        try problems.note { () throws(Rejection) in try WebAddress.check(imageSmall, "\(path)imageSmall") }
        try problems.note { () throws(Rejection) in try WebAddress.check(imageLarge, "\(path)imageLarge") }
        try problems.note { () throws(Rejection) in
            try Self.check(images.count, "\(path)images", atMost: ItemImage.maximumCount)
        }
        for (index, image) in images.enumerated() {
            try problems.note { () throws(Rejection) in try image.validate(at: "\(path)images[\(index)]") }
        }
        try problems.note { () throws(Rejection) in
            try Self.check(links.count, "\(path)links", atMost: ItemLink.maximumCount)
        }
        for (index, link) in links.enumerated() {
            try problems.note { () throws(Rejection) in try link.validate(at: "\(path)links[\(index)]") }
        }
        if isCombo, options.isEmpty { problems.add("\(path)combo: needs options, which are its parts") }
        if let maxQuantity, !(1...MenuItem.quantityLimit).contains(maxQuantity) {
            problems.add("\(path)maxQuantity: must be from 1 to \(MenuItem.quantityLimit), is \(maxQuantity)")
        }
        if let registered {
            try problems.note { () throws(Rejection) in try attributes.validate(at: "\(path)attributes", registered) }
        }
    }

    private static func check(_ count: Int, _ field: @autoclosure () -> String, atMost most: Int) throws(Rejection) {
        guard count <= most else { throw .invalid(.field(field()), "must have at most \(most) entries") }
    }
}
