extension MenuState {
    /// An item, where it stands, and whether it can be had.
    ///
    /// Menus take most of a server's memory, so an entry is one shared block that holds all its texts one after the
    /// other. Texts are unpacked when they are read.
    ///
    /// Sendable unchecked: the block never changes once it is made.
    public struct Entry: @unchecked Sendable {
        private var storage: EntryStorage

        /// What belongs to the options of an item. Few items have any.
        struct Options {
            var groups: [Identifier]
            var tax: Identifier?
            /// Whether the price is that of the options together.
            var isCombo = false
            /// The promotion that the item is shown for.
            var promotion: Identifier?
            /// What the merchant said, whatever follows from the options.
            var ownSuspension: Suspension?
        }

        /// What the rest of the menu makes of an item.
        struct Consequences {
            /// The lowest price of its sizes; nil where it has none.
            var lowestPrice: Amount?
            /// Why it cannot be ordered, where a group that has to be chosen from cannot be filled, or nothing is left.
            var suspension: Suspension?
            /// The part of the day in which it can be had: its own, or that of its section.
            var daypart: Identifier?
            /// Whether it has a suspension that is not the merchant's, so that the merchant's is kept apart.
            var isUsedUp = false
        }

        /// An item in its section.
        public init(item: MenuItem, section: Identifier, suspension: Suspension? = nil) {
            self.init(item, section, suspension, Consequences(daypart: item.daypart))
        }

        init(_ item: MenuItem, _ section: Identifier, _ suspension: Suspension?, _ consequences: Consequences) {
            storage = EntryStorage.make(item, section, suspension, consequences)
        }

        /// The item's id.
        public var id: Identifier { storage.header.id }

        /// What the item is called.
        public var name: Text { storage.name }

        /// What one costs; of an item with sizes, the lowest of their prices.
        public var price: Amount? { storage.header.price }

        /// What one costs where orders are had in some ways.
        public var servicePrices: ByService<Amount> {
            storage.header.hasServicePrices ? storage.servicePrices : ByService()
        }

        /// What one costs where an order is had in a way, or in any way if that is nil.
        public func price(for service: ServiceKind?) -> Amount? {
            guard let service, storage.header.hasServicePrices else { return price }
            return storage.servicePrices[service] ?? price
        }

        /// The part of the day in which it can be had: its own, or that of its section; nil for any time.
        public var daypart: Identifier? { storage.header.hasDaypart ? storage.dayparts.effective : nil }

        /// Whether it can only be had in a part of the day.
        public var hasDaypart: Bool { storage.header.hasDaypart }

        /// Whether ``price`` is the lowest of several.
        public var isPriceFrom: Bool { storage.header.isPriceFrom }

        /// Whether there is anything to choose with it.
        public var hasOptions: Bool { storage.header.hasOptions && !options.isEmpty }

        /// The groups of options that it offers, in their order.
        public var options: [Identifier] { unpackedOptions.groups }

        /// The tax that is on it; nil for the outlet's first.
        public var tax: Identifier? { unpackedOptions.tax }

        /// All that belongs to its options, for code that needs more than one part.
        var unpackedOptions: Options {
            storage.header.hasOptions
                ? storage.options : Options(groups: [], tax: nil, ownSuspension: storage.header.suspension)
        }

        /// The most of it that a line takes.
        public var maxQuantity: Int? { storage.header.maxQuantity }

        /// Calls the body with the name of each of the item's attributes.
        func forEachAttributeName(_ body: (Identifier) -> Void) {
            if storage.header.hasAttributes { storage.forEachAttributeName(body) }
        }

        /// The bytes of the texts and attributes of ``item``.
        var bytes: Int { Int(storage.header.itemBytes) }

        /// The item as the merchant describes it.
        public var item: MenuItem { storage.item }

        /// The section that lists it.
        public var section: Identifier { storage.section }

        /// Why it cannot be ordered now, if so.
        public var suspension: Suspension? { storage.header.suspension }

        /// What the merchant said of it, whatever follows from its options.
        public var ownSuspension: Suspension? { unpackedOptions.ownSuspension }
    }
}

extension MenuState.Entry: Equatable {
    /// Whether items, sections and suspensions are the same.
    public static func == (a: Self, b: Self) -> Bool {
        a.storage === b.storage
            || a.item == b.item && a.section == b.section && a.price == b.price && a.suspension == b.suspension
                && a.ownSuspension == b.ownSuspension && a.daypart == b.daypart
    }
}

extension MenuItem {
    fileprivate var hasMedia: Bool { !images.isEmpty || !links.isEmpty }
    fileprivate var hasOptions: Bool { !options.isEmpty || tax != nil || isCombo || promotion != nil }
}

/// What an entry holds.
private final class EntryStorage: ManagedBuffer<EntryStorage.Header, UInt8> {
    /// Impossible numbers stand for absent values: an optional would take twice the space.
    struct Header {
        private static let none = Int64.min
        /// Sold out with no end.
        private static let noEnd = Int64.max

        let id: Identifier
        private let minorUnits: Int64
        private let until: Int64
        private let mostAtOnce: Int16
        /// The index of the registered kind; -1 for a kind that is no longer registered, whose name is among the texts.
        let kind: Int8
        let hasAttributes: Bool
        /// Whether there are images or links.
        let hasMedia: Bool
        /// Whether there are groups of options or a tax, or a suspension beside the merchant's.
        let hasOptions: Bool
        /// Whether there are other prices for some ways to have an order.
        let hasServicePrices: Bool
        /// Whether it is had in a part of the day.
        let hasDaypart: Bool
        /// Whether the price is not the item's own, but the lowest of its sizes.
        let isPriceFrom: Bool
        let byteCount: Int32
        let itemBytes: Int32

        init(
            _ item: MenuItem, _ suspension: MenuState.Suspension?, _ lowestPrice: Amount?, hasOptions: Bool,
            hasDaypart: Bool, kind: Int?,
            byteCount: Int
        ) {
            id = item.id
            self.kind = kind.map(Int8.init) ?? -1
            hasAttributes = !item.attributes.isEmpty
            hasMedia = item.hasMedia
            self.hasOptions = hasOptions
            hasServicePrices = !item.servicePrices.isEmpty
            self.hasDaypart = hasDaypart
            isPriceFrom = item.price == nil && lowestPrice != nil
            minorUnits = (item.price ?? lowestPrice)?.minorUnits ?? Self.none
            until = suspension.map { $0.until?.millisecondsSinceEpoch ?? Self.noEnd } ?? Self.none
            mostAtOnce = item.maxQuantity.map(Int16.init(clamping:)) ?? .min
            self.byteCount = Int32(byteCount)
            itemBytes = Int32(clamping: item.bytes)
        }

        var price: Amount? { minorUnits == Self.none ? nil : Amount(minorUnits: minorUnits) }

        var suspension: MenuState.Suspension? {
            switch until {
            case Self.none: nil
            case Self.noEnd: MenuState.Suspension(until: nil)
            default: MenuState.Suspension(until: Timestamp(millisecondsSinceEpoch: until))
            }
        }

        var maxQuantity: Int? { mostAtOnce == .min ? nil : Int(mostAtOnce) }
    }

    static func make(
        _ item: MenuItem, _ section: Identifier, _ ownSuspension: MenuState.Suspension?,
        _ consequences: MenuState.Entry.Consequences
    ) -> EntryStorage {
        var texts = PackedValues()
        texts.append(item.name)
        texts.append(Text(section.rawValue))
        let kind = ItemKind.all.firstIndex { $0.name == item.kind }
        texts.append(kind == nil ? item.kind : nil)
        texts.append(item.description)
        texts.append(item.cuisine)
        texts.append(item.imageSmall)
        texts.append(item.imageLarge)
        if item.hasMedia { texts.append(item.images, item.links) }
        let hasOptions = item.hasOptions || consequences.isUsedUp
        if hasOptions {
            texts.append(
                MenuState.Entry.Options(
                    groups: item.options, tax: item.tax, isCombo: item.isCombo, promotion: item.promotion,
                    ownSuspension: ownSuspension))
        }
        if !item.servicePrices.isEmpty { texts.append(item.servicePrices) }
        if let daypart = consequences.daypart {
            texts.append(item.daypart?.text)
            texts.append(daypart.text)
        }
        for tag in item.tags { texts.append(tag) }
        if !item.attributes.isEmpty { texts.append(item.attributes) }
        let bytes = texts.bytes
        let buffer = create(minimumCapacity: bytes.count) { _ in
            Header(
                item, .both(ownSuspension, consequences.suspension), consequences.lowestPrice,
                hasOptions: hasOptions, hasDaypart: consequences.daypart != nil, kind: kind, byteCount: bytes.count)
        }
        buffer.withUnsafeMutablePointerToElements { elements in
            bytes.withUnsafeBufferPointer { source in
                if let start = source.baseAddress { elements.initialize(from: start, count: source.count) }
            }
        }
        return unsafeDowncast(buffer, to: EntryStorage.self)
    }

    var name: Text {
        read { texts in texts.next() ?? "" }
    }

    var section: Identifier {
        read { texts in
            texts.skip()
            guard let section = texts.nextIdentifier() else {
                preconditionFailure("a section without an id")
            }
            return section
        }
    }

    var options: MenuState.Entry.Options { read(from: .options) { $0.nextOptions() } }

    var servicePrices: ByService<Amount> { read(from: .servicePrices) { $0.nextServicePrices() } }

    var dayparts: (own: Identifier?, effective: Identifier?) {
        read(from: .dayparts) { ($0.nextIdentifier(), $0.nextIdentifier()) }
    }

    func forEachAttributeName(_ body: (Identifier) -> Void) {
        read(from: .tags) { texts in
            while !texts.isAtEnd, texts.skip() {}
            texts.forEachAttributeName(body)
        }
    }

    var item: MenuItem {
        read { texts in
            let name = texts.next() ?? ""
            _ = texts.next()
            let kind = texts.next() ?? ItemKind.all[Int(header.kind)].name
            var item = MenuItem(
                id: header.id, kind: kind, name: name, description: texts.next(),
                price: header.isPriceFrom ? nil : header.price,
                cuisine: texts.next(), imageSmall: texts.next(), imageLarge: texts.next(),
                maxQuantity: header.maxQuantity)
            if header.hasMedia { (item.images, item.links) = (texts.nextImages(), texts.nextLinks()) }
            if header.hasOptions {
                let options = texts.nextOptions()
                (item.options, item.tax, item.isCombo) = (options.groups, options.tax, options.isCombo)
                item.promotion = options.promotion
            }
            if header.hasServicePrices { item.servicePrices = texts.nextServicePrices() }
            if header.hasDaypart {
                item.daypart = texts.nextIdentifier()
                texts.skip()
            }
            while let tag = texts.nextUnlessAtEnd() { item.tags.append(tag) }
            if header.hasAttributes { item.attributes = texts.nextAttributes() }
            return item
        }
    }

    /// What comes behind the name, the section, the kind, the description, the cuisine and both images, and behind other
    /// images and links.
    private enum Part: Int {
        case options, servicePrices, dayparts, tags
    }

    private func read<Result>(from part: Part, _ body: (inout PackedValues.Reader) -> Result) -> Result {
        read { texts in
            for _ in 0..<7 { texts.skip() }
            if header.hasMedia { _ = (texts.nextImages(), texts.nextLinks()) }
            if header.hasOptions, part.rawValue > Part.options.rawValue { _ = texts.nextOptions() }
            if header.hasServicePrices, part.rawValue > Part.servicePrices.rawValue { _ = texts.nextServicePrices() }
            if header.hasDaypart, part.rawValue > Part.dayparts.rawValue {
                texts.skip()
                texts.skip()
            }
            return body(&texts)
        }
    }

    private func read<Result>(_ body: (inout PackedValues.Reader) -> Result) -> Result {
        withUnsafeMutablePointers { header, elements in
            var reader = PackedValues.Reader(
                UnsafeRawBufferPointer(start: elements, count: Int(header.pointee.byteCount)))
            return body(&reader)
        }
    }
}
