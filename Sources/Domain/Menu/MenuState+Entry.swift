extension MenuState {
    /// An item, where it stands, and whether it can be had.
    ///
    /// Menus take most of a server's memory, so an entry is one shared block that holds all its texts one after the
    /// other. Texts are unpacked when they are read.
    ///
    /// Sendable unchecked: the block never changes once it is made.
    public struct Entry: @unchecked Sendable {
        private var storage: EntryStorage

        /// An item in its section.
        public init(item: MenuItem, section: Identifier, suspension: Suspension? = nil) {
            storage = EntryStorage.make(item, section, suspension)
        }

        /// The item's id.
        public var id: Identifier { storage.header.id }

        /// What the item is called.
        public var name: Text { storage.name }

        /// What one costs.
        public var price: Amount? { storage.header.price }

        /// The most of it that a line takes.
        public var maxQuantity: Int? { storage.header.maxQuantity }

        /// Whether the item has attributes.
        var hasAttributes: Bool { storage.header.hasAttributes }

        /// The bytes of the texts and attributes of ``item``.
        var bytes: Int { Int(storage.header.itemBytes) }

        /// The item as the merchant describes it.
        public var item: MenuItem {
            get { storage.item }
            set { storage = EntryStorage.make(newValue, section, suspension) }
        }

        /// The section that lists it.
        public var section: Identifier {
            get { storage.section }
            set { storage = EntryStorage.make(item, newValue, suspension) }
        }

        /// Why it cannot be ordered now, if so.
        public var suspension: Suspension? {
            get { storage.header.suspension }
            set { storage = EntryStorage.make(item, section, newValue) }
        }
    }
}

extension MenuState.Entry: Equatable {
    /// Whether items, sections and suspensions are the same.
    public static func == (a: Self, b: Self) -> Bool {
        a.storage === b.storage || a.item == b.item && a.section == b.section && a.suspension == b.suspension
    }
}

extension MenuItem {
    fileprivate var hasMedia: Bool { !images.isEmpty || !links.isEmpty }
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
        let byteCount: Int32
        /// See ``MenuItem/bytes``.
        let itemBytes: Int32

        init(_ item: MenuItem, _ suspension: MenuState.Suspension?, kind: Int?, byteCount: Int) {
            id = item.id
            self.kind = kind.map(Int8.init) ?? -1
            hasAttributes = !item.attributes.isEmpty
            hasMedia = item.hasMedia
            minorUnits = item.price?.minorUnits ?? Self.none
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
        _ item: MenuItem, _ section: Identifier, _ suspension: MenuState.Suspension?
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
        for tag in item.tags { texts.append(tag) }
        if !item.attributes.isEmpty { texts.append(item.attributes) }
        let bytes = texts.bytes
        let buffer = create(minimumCapacity: bytes.count) { _ in
            Header(item, suspension, kind: kind, byteCount: bytes.count)
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
            _ = texts.next()
            guard let section = texts.next().flatMap({ Identifier($0.string) }) else {
                preconditionFailure("a section without an id")
            }
            return section
        }
    }

    var item: MenuItem {
        read { texts in
            let name = texts.next() ?? ""
            _ = texts.next()
            let kind = texts.next() ?? ItemKind.all[Int(header.kind)].name
            var item = MenuItem(
                id: header.id, kind: kind, name: name, description: texts.next(), price: header.price,
                cuisine: texts.next(), imageSmall: texts.next(), imageLarge: texts.next(),
                maxQuantity: header.maxQuantity)
            if header.hasMedia { (item.images, item.links) = (texts.nextImages(), texts.nextLinks()) }
            while let tag = texts.nextUnlessAtEnd() { item.tags.append(tag) }
            if header.hasAttributes { item.attributes = texts.nextAttributes() }
            return item
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
