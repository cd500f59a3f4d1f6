internal import Domain

/// Rows by the attributes of their items. Each name has an index of its numbers and one of its words, as long as some
/// item has it.
final class AttributeIndex: FilterIndex {
    private struct Named {
        let words: WordIndex
        let numbers: NumberIndex

        var isEmpty: Bool { words.isEmpty && numbers.isEmpty }
    }

    /// Normalises words for comparison.
    private let fold: (Text) -> Text
    private var indexes: [Identifier: Named] = [:]

    init(fold: @escaping (Text) -> Text) { self.fold = fold }

    func load(_ listings: [Listing], from row: UInt32) {
        // Most items have the same attributes as the one before, in the same order: then no name is looked up.
        var known: [(name: Identifier, index: Named)] = []
        listings.forEach(from: row) { listing, row in
            for (place, attribute) in listing.attributes.list.enumerated() {
                if place == known.count {
                    known.append((attribute.name, index(of: attribute.name)))
                } else if known[place].name != attribute.name {
                    known[place] = (attribute.name, index(of: attribute.name))
                }
                let index = known[place].index
                attribute.value.forEachWord { index.words.load($0, at: row) }
                if let number = attribute.value.number { index.numbers.load(number, at: row) }
            }
        }
    }

    func finishLoading() {
        for index in indexes.values {
            index.words.finishLoading()
            index.numbers.finishLoading()
        }
    }

    func insert(_ listing: Listing, at row: UInt32) {
        for attribute in listing.attributes.list { insert(attribute, at: row) }
    }

    func remove(_ listing: Listing, at row: UInt32) {
        for attribute in listing.attributes.list { remove(attribute, at: row) }
    }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        let (before, after) = (old.attributes, new.attributes)
        guard before != after else { return }
        for attribute in before.list where after[attribute.name] != attribute.value { remove(attribute, at: row) }
        for attribute in after.list where before[attribute.name] != attribute.value { insert(attribute, at: row) }
    }

    private func insert(_ attribute: ItemAttributes.Attribute, at row: UInt32) {
        let index = index(of: attribute.name)
        attribute.value.forEachWord { index.words.insert($0, at: row) }
        if let number = attribute.value.number { index.numbers.set(number, at: row) }
    }

    private func remove(_ attribute: ItemAttributes.Attribute, at row: UInt32) {
        guard let index = indexes[attribute.name] else { return }
        attribute.value.forEachWord { index.words.remove($0, at: row) }
        if attribute.value.number != nil { index.numbers.set(nil, at: row) }
        if index.isEmpty { indexes[attribute.name] = nil }
    }

    private func index(of name: Identifier) -> Named {
        if let known = indexes[name] { return known }
        let index = Named(
            words: WordIndex(fold: fold, .any { $0.attributes[name]?.words ?? [] }),
            numbers: NumberIndex { $0.attributes[name]?.number })
        indexes[name] = index
        return index
    }

    // MARK: Looking up

    /// The rows with a number of that name in the range.
    func rows(_ name: Identifier, in range: ClosedRange<Int64>) -> Bitmap {
        indexes[name]?.numbers.rows(in: range) ?? Bitmap()
    }

    /// Those of the given rows with a number of that name in the range.
    func rows(_ name: Identifier, in range: ClosedRange<Int64>, among rows: Bitmap) -> Bitmap {
        indexes[name]?.numbers.rows(in: range, among: rows) ?? Bitmap()
    }

    /// The rows with any of the values under that name.
    func rows(_ name: Identifier, having values: AttributeChoice) -> Bitmap {
        guard let index = indexes[name] else { return Bitmap() }
        return Bitmap.union(
            values.words.map(index.words.rows(having:)) + values.numbers.map { index.numbers.rows(in: $0...$0) })
    }

    /// How many of the rows have each word under that name.
    func words(_ name: Identifier, over tally: Tally) -> Facets.Words {
        indexes[name]?.words.counts(over: tally) ?? []
    }

    /// How the numbers that the rows have under that name are spread.
    func spread(_ name: Identifier, over tally: Tally) -> NumberSpread? {
        indexes[name]?.numbers.spread(over: tally, .fitting)
    }

    /// Whether a listing has any of the values under that name.
    func has(_ listing: Listing, _ name: Identifier, _ values: AttributeChoice) -> Bool {
        guard let value = listing.attributes[name] else { return false }
        if let number = value.number { return values.numbers.contains(number) }
        return value.words.contains { values.words.contains(fold($0)) }
    }
}

/// Values of an attribute, of which one is enough.
struct AttributeChoice {
    /// Folded.
    var words: Set<Text>
    /// In millionths.
    var numbers: Set<Int64>
}

extension AttributeValue {
    /// The number in millionths; nil for a value of another type.
    var number: Int64? { if case .number(let number) = self { number.millionths } else { nil } }

    /// What it is found by, if it is no number.
    fileprivate var words: [Text] {
        var words: [Text] = []
        forEachWord { words.append($0) }
        return words
    }

    fileprivate func forEachWord(_ body: (Text) -> Void) {
        switch self {
        case .number: break
        case .text(let text): body(text)
        case .boolean(let value): body(value ? "true" : "false")
        case .texts(let texts): texts.forEach(body)
        }
    }
}
