/// Texts one after the other, each preceded by its length plus 1; 0 stands for an absent text. Lists of images and
/// links are preceded by their lengths. Attributes come last.
struct PackedValues {
    /// What the value of an attribute begins with. A list adds its length to the last.
    private enum Mark {
        static let `false`: UInt64 = 0
        static let `true`: UInt64 = 1
        static let text: UInt64 = 2
        static let number: UInt64 = 3
        static let texts: UInt64 = 4
    }

    private(set) var bytes: [UInt8] = []

    mutating func append(_ text: Text?) {
        guard let text else { return bytes.append(0) }
        text.withBytes { utf8 in
            append(UInt64(utf8.count) + 1)
            bytes.append(contentsOf: utf8)
        }
    }

    private mutating func append(_ number: UInt64) { bytes.append(packed: number) }

    mutating func append(_ images: [ItemImage], _ links: [ItemLink]) {
        append(UInt64(images.count))
        for image in images {
            append(image.url)
            append(image.alternative)
        }
        append(UInt64(links.count))
        for link in links {
            append(link.rel.text)
            append(link.url)
            append(link.title)
        }
    }

    mutating func append(_ options: MenuState.Entry.Options) {
        append(options.tax?.text)
        append(options.promotion?.text)
        append(UInt64(options.groups.count) << 1 | (options.isCombo ? 1 : 0))
        for group in options.groups { append(group.text) }
        switch options.ownSuspension {
        case nil: append(0)
        case let suspension?: append(suspension.until.map { UInt64(bitPattern: $0.millisecondsSinceEpoch) &+ 2 } ?? 1)
        }
    }

    /// One bit for each way to have an order that has a price, and these prices.
    mutating func append(_ prices: ByService<Amount>) {
        append(ServiceKind.allCases.reversed().reduce(0) { $0 << 1 | (prices[$1] == nil ? 0 : 1) } as UInt64)
        for (_, price) in prices.list { append(UInt64(bitPattern: price.minorUnits)) }
    }

    /// An absent text, and the attributes up to the end.
    mutating func append(_ attributes: ItemAttributes) {
        bytes.append(0)
        for attribute in attributes.list {
            append(attribute.name.text)
            switch attribute.value {
            case .boolean(let value): append(value ? Mark.true : Mark.false)
            case .text(let text):
                append(Mark.text)
                append(text)
            case .number(let number):
                append(Mark.number)
                // The sign is the lowest bit, so that small numbers take few bytes.
                append(UInt64(bitPattern: number.millionths << 1 ^ number.millionths >> 63))
            case .texts(let texts):
                append(Mark.texts + UInt64(texts.count))
                for text in texts { append(text) }
            }
        }
    }

    struct Reader {
        private let bytes: UnsafeRawBufferPointer
        private var index = 0

        init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        var isAtEnd: Bool { index == bytes.count }

        private mutating func nextNumber() -> UInt64 { bytes.packedNumber(at: &index) }

        private mutating func nextBytes() -> UnsafeRawBufferPointer? {
            let count = Int(nextNumber())
            guard count > 0 else { return nil }
            defer { index += count - 1 }
            return UnsafeRawBufferPointer(rebasing: bytes[index..<(index + count - 1)])
        }

        mutating func next() -> Text? { nextBytes().map { Text(String(decoding: $0, as: UTF8.self)) } }

        mutating func nextIdentifier() -> Identifier? { nextBytes().flatMap { Identifier(utf8: $0) } }

        /// Leaves out a text. Returns whether there was one.
        @discardableResult
        mutating func skip() -> Bool {
            let count = Int(nextNumber())
            index += max(0, count - 1)
            return count > 0
        }

        mutating func nextUnlessAtEnd() -> Text? { isAtEnd ? nil : next() }

        mutating func nextImages() -> [ItemImage] {
            (0..<nextNumber()).map { _ in ItemImage(url: next() ?? "", alternative: next()) }
        }

        mutating func nextLinks() -> [ItemLink] {
            (0..<nextNumber()).map { _ in
                guard let rel = nextIdentifier() else {
                    preconditionFailure("a link without a relation")
                }
                return ItemLink(rel: rel, url: next() ?? "", title: next())
            }
        }

        mutating func nextOptions() -> MenuState.Entry.Options {
            let (tax, promotion) = (nextIdentifier(), nextIdentifier())
            let number = nextNumber()
            let (count, isCombo) = (Int(number >> 1), number & 1 == 1)
            var groups: [Identifier] = []
            groups.reserveCapacity(count)
            for _ in 0..<count {
                guard let group = nextIdentifier() else { preconditionFailure("a group without an id") }
                groups.append(group)
            }
            let suspension: MenuState.Suspension? =
                switch nextNumber() {
                case 0: nil
                case 1: MenuState.Suspension(until: nil)
                case let number:
                    MenuState.Suspension(until: Timestamp(millisecondsSinceEpoch: Int64(bitPattern: number &- 2)))
                }
            return MenuState.Entry.Options(
                groups: groups, tax: tax, isCombo: isCombo, promotion: promotion, ownSuspension: suspension)
        }

        mutating func nextServicePrices() -> ByService<Amount> {
            var prices = ByService<Amount>()
            var bits = nextNumber()
            for service in ServiceKind.allCases {
                if bits & 1 == 1 { prices[service] = Amount(minorUnits: Int64(bitPattern: nextNumber())) }
                bits >>= 1
            }
            return prices
        }

        /// The attributes up to the end; what comes before them has been read.
        mutating func nextAttributes() -> ItemAttributes {
            var list: [ItemAttributes.Attribute] = []
            while !isAtEnd {
                guard let name = nextIdentifier() else { preconditionFailure("an attribute without a name") }
                list.append(ItemAttributes.Attribute(name, nextValue()))
            }
            return ItemAttributes(list)
        }

        /// Passes over the attributes up to the end, and calls the body with their names.
        mutating func forEachAttributeName(_ body: (Identifier) -> Void) {
            while !isAtEnd {
                guard let name = nextIdentifier() else { preconditionFailure("an attribute without a name") }
                body(name)
                switch nextNumber() {
                case Mark.false, Mark.true: break
                case Mark.text: skip()
                case Mark.number: _ = nextNumber()
                case let mark: for _ in Mark.texts..<mark { skip() }
                }
            }
        }

        private mutating func nextValue() -> AttributeValue {
            switch nextNumber() {
            case Mark.false: return .boolean(false)
            case Mark.true: return .boolean(true)
            case Mark.text: return .text(next() ?? "")
            case Mark.number:
                let packed = nextNumber()
                return .number(
                    AttributeNumber(millionths: Int64(bitPattern: packed >> 1) ^ -Int64(bitPattern: packed & 1)))
            case let mark: return .texts((0..<mark - Mark.texts).map { _ in next() ?? "" })
            }
        }
    }
}
