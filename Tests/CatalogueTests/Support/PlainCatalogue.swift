import Domain
import Projections

@testable import Catalogue

/// What a catalogue must answer, found by looking at every listing.
final class PlainCatalogue {
    struct Entry {
        var id: ListingID
        var name: Text
        var foldedName: Text
        var nameTerms: Set<Text>
        var otherTerms: Set<Text>
        var cuisines: [Text]
        var city: Text?
        var area: Text?
        var kinds: Set<Text>
        var tags: Set<Text>
        /// Of the item; of each of the outlet's items.
        var attributes: [ItemAttributes]
        var currency: Text
        var price: Int64?
        var rating: Int64?
        var deliveryMinutes: Int64?
        var isOpen: Bool
    }

    private let analyser = TextAnalyser()
    private var folded: [Text: Text] = [:]
    private var terms: [Text: [Text]] = [:]
    private var items: [Entry] = []
    private var outlets: [Entry] = []

    func set(_ records: [OutletRecord], now: Timestamp) {
        items = []
        outlets = []
        for record in records {
            guard let (details, status) = record.details else { continue }
            let isOpen =
                switch status {
                case .open, .slow: true
                case .closed, .resting: false
                case .paused(let until, _): until <= now
                }
            var outlet = Entry(
                id: ListingID(outlet: record.id), name: details.name, foldedName: fold(details.name),
                nameTerms: terms(details.name),
                otherTerms: terms(details.cuisines + [details.city ?? "", details.area ?? ""]),
                cuisines: details.cuisines, city: details.city, area: details.area, kinds: [], tags: [], attributes: [],
                currency: Text(details.currency.code), price: details.priceForTwo?.minorUnits,
                rating: (details.rating?.hundredths).map(Int64.init),
                deliveryMinutes: details.deliveryMinutes.map(Int64.init), isOpen: isOpen)
            for section in record.menu.document.sections {
                for item in section.items {
                    var entry = outlet
                    entry.id.item = item.id
                    entry.name = item.name
                    entry.foldedName = fold(item.name)
                    entry.cuisines = item.cuisine.map { [$0] } ?? details.cuisines
                    entry.nameTerms = terms(item.name)
                    entry.otherTerms = terms(entry.cuisines + item.tags + [item.description ?? ""])
                    entry.kinds = [item.kind]
                    entry.tags = Set(item.tags)
                    entry.attributes = [item.attributes]
                    entry.price = item.price?.minorUnits
                    if let suspension = record.menu.entries[item.id]?.suspension {
                        entry.isOpen = isOpen && !suspension.holds(at: now)
                    }
                    if let daypart = item.daypart ?? section.header.daypart,
                        let later = details.daypartTimes.later.first(where: { $0.id == daypart })
                    {
                        entry.isOpen = entry.isOpen && later.begins.map { $0 <= now } ?? false
                    }
                    items.append(entry)
                }
            }
            let own = items.filter { $0.id.outlet == record.id }
            outlet.kinds = Set(own.flatMap(\.kinds))
            outlet.tags = Set(own.flatMap(\.tags))
            outlet.attributes = own.flatMap(\.attributes)
            outlets.append(outlet)
        }
    }

    // MARK: Text

    private func fold(_ text: Text) -> Text {
        if let known = folded[text] { return known }
        let new = Text(analyser.fold(text.string))
        folded[text] = new
        return new
    }

    private func terms(_ texts: Text...) -> Set<Text> { terms(texts) }

    private func terms(_ texts: [Text]) -> Set<Text> {
        Set(
            texts.flatMap { text in
                if let known = terms[text] { return known }
                var new: [Text] = []
                analyser.forEachTerm(of: text.string) { new.append(Text($0)) }
                terms[text] = new
                return new
            })
    }

    /// How well a listing matches a text: 0 for all words in the name, 1 for some of them, or for a single word that
    /// is elsewhere, 2 for none; nil if it does not match.
    private func tier(_ entry: Entry, _ wanted: [Text]) -> Int? {
        var inName = 0
        for (index, term) in wanted.enumerated() {
            func has(_ terms: Set<Text>) -> Bool {
                index == wanted.count - 1 ? terms.contains { $0.utf8.starts(with: term.utf8) } : terms.contains(term)
            }
            if has(entry.nameTerms) { inName += 1 } else if !has(entry.otherTerms) { return nil }
        }
        return inName == wanted.count ? 0 : inName > 0 || wanted.count == 1 ? 1 : 2
    }

    // MARK: Answers

    /// The question with the currency that its prices are compared in; nil if it compares those of several.
    func settled(_ question: Question, counting facets: [String] = []) -> Question? {
        guard question.comparesPrices || facets.contains("prices"), question.currencies.count != 1 else {
            return question
        }
        let known = currencies(question)
        if known.count > 1 { return nil }
        var settled = question
        if question.comparesPrices, let only = known.first { settled.currencies = [only] }
        return settled
    }

    /// The currencies of the outlets that a question asks for.
    private func currencies(_ question: Question) -> Set<Text> {
        func chosen(_ question: Question) -> Question {
            var chosen = Question(.outlets)
            (chosen.currencies, chosen.outlets) = (question.currencies, question.outlets)
            return chosen
        }
        let excluded = question.excluded.map(chosen).filter { $0 != Question(.outlets) }
        return Set(
            outlets.filter { outlet in
                accepts(outlet, chosen(question)) && !excluded.contains { accepts(outlet, $0) }
            }
            .map(\.currency))
    }

    /// All matches, in order.
    func found(_ question: Question) throws -> [Entry] {
        let wanted = try question.text.map { try analyser.queryTerms(of: $0).map { Text($0) } }
        let matches = try (question.kind == .items ? items : outlets).compactMap {
            entry -> (tier: Int, entry: Entry)? in
            guard accepts(entry, question),
                try !question.excluded.contains(where: { try accepts(entry, $0) && hasText(entry, $0) })
            else { return nil }
            guard let wanted else { return (0, entry) }
            return tier(entry, wanted).map { ($0, entry) }
        }
        return matches.sorted { a, b in
            if question.sort == "relevance", a.tier != b.tier { return a.tier < b.tier }
            switch question.sort {
            case "name":
                if a.entry.foldedName != b.entry.foldedName {
                    return a.entry.foldedName.utf8.lexicographicallyPrecedes(b.entry.foldedName.utf8)
                }
            default:
                if question.sort.hasSuffix("price"), a.entry.price != nil, b.entry.price != nil,
                    a.entry.currency != b.entry.currency
                {
                    return a.entry.currency < b.entry.currency
                }
                let (first, second) = (key(a.entry, question.sort), key(b.entry, question.sort))
                if first != second { return first < second }
            }
            return (a.entry.id.outlet.rawValue, a.entry.id.item?.rawValue ?? "")
                < (b.entry.id.outlet.rawValue, b.entry.id.item?.rawValue ?? "")
        }
        .map(\.entry)
    }

    /// What is suggested in place of a text of one word, where nothing has it, whatever else is asked; nil for several.
    func suggestions(_ question: Question) throws -> [String]? {
        guard let text = question.text, let words = try? analyser.queryTerms(of: text), words.count == 1 else {
            return nil
        }
        var alone = Question(question.kind)
        alone.text = text
        guard try found(alone).isEmpty else { return [] }
        var others = question
        others.text = nil
        let matches = try found(others)
        let limit = words[0].unicodeScalars.count < 3 ? 0 : words[0].unicodeScalars.count < 5 ? 1 : 2
        let known = Set((question.kind == .items ? items : outlets).flatMap { $0.nameTerms.union($0.otherTerms) })
        return known.compactMap { word -> (edits: Int, count: Int, word: Text)? in
            let edits = PlainCatalogue.edits(Array(words[0].unicodeScalars), Array(word.string.unicodeScalars))
            guard edits <= limit else { return nil }
            let count = matches.count { tier($0, [word]) != nil }
            return count > 0 ? (edits, count, word) : nil
        }
        .sorted { ($0.edits, -$0.count, $0.word) < ($1.edits, -$1.count, $1.word) }
        .prefix(3).map(\.word.string)
    }

    /// How many edits lead from one word to another, none of a letter that was edited before.
    static func edits(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        // Of the beginnings of these lengths.
        var edits = (0...a.count).map { m in (0...b.count).map { n in m == 0 || n == 0 ? m + n : 0 } }
        for m in a.indices {
            for n in b.indices {
                var least = min(edits[m][n + 1], edits[m + 1][n]) + 1
                least = min(least, edits[m][n] + (a[m] == b[n] ? 0 : 1))
                if m > 0, n > 0, a[m] == b[n - 1], a[m - 1] == b[n] { least = min(least, edits[m - 1][n - 1] + 1) }
                edits[m + 1][n + 1] = least
            }
        }
        return edits[a.count][b.count]
    }

    private func hasText(_ entry: Entry, _ question: Question) throws -> Bool {
        guard let text = question.text else { return true }
        return tier(entry, try analyser.queryTerms(of: text).map { Text($0) }) != nil
    }

    private func key(_ entry: Entry, _ sort: String) -> Int64 {
        switch sort {
        case "price": entry.price ?? .max
        case "-price": entry.price.map { -$0 } ?? .max
        case "delivery": entry.deliveryMinutes ?? .max
        default: entry.rating.map { -$0 } ?? .max
        }
    }

    private func accepts(_ entry: Entry, _ question: Question) -> Bool {
        func same(_ a: Text, _ b: Text) -> Bool { fold(a) == fold(b) }
        if !question.cuisines.isEmpty,
            !question.cuisines.contains(where: { wanted in entry.cuisines.contains { same($0, wanted) } })
        {
            return false
        }
        func has(_ values: [Text], _ wanted: [Text]) -> Bool {
            wanted.isEmpty || values.contains { value in wanted.contains { same(value, $0) } }
        }
        guard has(entry.city.map { [$0] } ?? [], question.cities), has(entry.area.map { [$0] } ?? [], question.areas),
            has(Array(entry.kinds), question.itemKinds), question.tags.allSatisfy({ has(Array(entry.tags), $0) }),
            question.outlets.isEmpty || question.outlets.contains(Text(entry.id.outlet.rawValue)),
            has([entry.currency], question.currencies), question.price?.contains(entry.price) ?? true,
            question.rating?.contains(entry.rating) ?? true,
            question.deliveryMinutes?.contains(entry.deliveryMinutes) ?? true
        else { return false }
        for wanted in question.attributes where !entry.attributes.contains(where: { accepts($0, wanted) }) {
            return false
        }
        return !question.isOpen || entry.isOpen
    }

    private func accepts(_ attributes: ItemAttributes, _ wanted: Question.Attribute) -> Bool {
        guard let value = attributes[Identifier(wanted.name)!] else { return false }
        if case .range(let low, let high) = wanted.values {
            guard case .number(let number) = value, let number = Double(number.description) else { return false }
            return (low ?? -.infinity) <= number && number <= (high ?? .infinity)
        }
        guard case .any(let words) = wanted.values else { return false }
        return words.contains { word in
            switch value {
            case .number(let number): Double(word.string) == Double(number.description)
            case .text(let text): fold(text) == fold(word)
            case .boolean(let value): fold(word) == (value ? "true" : "false")
            case .texts(let texts): texts.contains { fold($0) == fold(word) }
            }
        }
    }

    // MARK: Facets

    static let standardFacets = ["cuisines", "cities", "kinds", "tags", "prices"]
    static let facets =
        standardFacets + ["areas", "currencies", "ratings", "deliveryMinutes"]
        + (Vocabulary.attributeNames + ["none"]).map { "attributes.\($0)" }

    /// The counts of the listings that a question finds, each without what it asks of the facet itself.
    func facets(
        _ question: Question, of found: [Entry], _ names: [String] = PlainCatalogue.standardFacets
    ) throws -> [String: Answer.Facet?] {
        let isMixed = !(question.comparesPrices || question.currencies.count == 1) && currencies(question).count > 1
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, isMixed && name == "prices" ? nil : try facet(name, question, of: found))
            })
    }

    private func facet(_ name: String, _ question: Question, of found: [Entry]) throws -> Answer.Facet {
        func entries(without own: (inout Question) -> Void) throws -> [Entry] {
            func others(_ question: Question) -> Question {
                var others = question
                own(&others)
                return others
            }
            var wider = others(question)
            wider.excluded.removeAll { others($0) != $0 }
            return wider == question ? found : try self.found(wider)
        }
        func words(without own: (inout Question) -> Void, _ values: (Entry) -> [Text]) throws -> Answer.Facet {
            Answer.Facet(values: counts(try entries(without: own), question.kind, values))
        }
        func numbers(
            without own: (inout Question) -> Void, digits: Int = 0, isFitting: Bool = true, _ number: (Entry) -> Int64?
        ) throws -> Answer.Facet {
            let scale = digits == 0 ? 1 : 100.0
            let numbers = try entries(without: own).map { number($0).map { [$0] } ?? [] }
            return spread(numbers, isFitting: isFitting) { Double($0) / scale }
        }
        switch name {
        case "cuisines": return try words(without: { $0.cuisines = [] }) { $0.cuisines }
        case "cities": return try words(without: { $0.cities = [] }) { $0.city.map { [$0] } ?? [] }
        case "areas": return try words(without: { $0.areas = [] }) { $0.area.map { [$0] } ?? [] }
        case "currencies":
            return try words(
                without: {
                    $0.currencies = []
                    $0.price = nil
                },
                { [$0.currency] })
        case "kinds": return try words(without: { $0.itemKinds = [] }) { Array($0.kinds) }
        case "tags": return try words(without: { $0.tags = [] }) { Array($0.tags) }
        case "prices": return try numbers(without: { $0.price = nil }, isFitting: false) { $0.price }
        case "ratings": return try numbers(without: { $0.rating = nil }, digits: 2) { $0.rating }
        case "deliveryMinutes": return try numbers(without: { $0.deliveryMinutes = nil }) { $0.deliveryMinutes }
        default:
            let attribute = String(name.dropFirst("attributes.".count))
            let entries = try entries { $0.attributes.removeAll { $0.name == attribute } }
            func values(_ entry: Entry) -> [AttributeValue] {
                entry.attributes.compactMap { $0[Identifier(attribute)!] }
            }
            let numbers = entries.map { entry in
                values(entry).compactMap { value -> Int64? in
                    if case .number(let number) = value { number.millionths } else { nil }
                }
            }
            var facet = spread(numbers, isFitting: true) { Double("\(AttributeNumber(greatestUpTo: $0))")! }
            // Outlets are counted by their items, whose spellings are shown.
            facet.values = counts(entries, .items) { entry in
                values(entry).flatMap { value -> [Text] in
                    switch value {
                    case .number: []
                    case .text(let text): [text]
                    case .boolean(let value): [value ? "true" : "false"]
                    case .texts(let texts): texts
                    }
                }
            }
            return facet
        }
    }

    /// How many of the entries have each value, under the spelling that most listings have.
    private func counts(
        _ entries: [Entry], _ kind: ListingKind, _ values: (Entry) -> [Text]
    ) -> [Answer.FacetValue] {
        var spellings: [Text: [Text: Int]] = [:]
        for entry in kind == .items ? items : outlets {
            for value in Set(values(entry)) { spellings[fold(value), default: [:]][value, default: 0] += 1 }
        }
        var counts: [Text: Int] = [:]
        for entry in entries { for value in Set(values(entry).map(fold)) { counts[value, default: 0] += 1 } }
        return counts.map { word, count in
            let shown = spellings[word]!.min { ($1.value, $0.key) < ($0.value, $1.key) }!.key
            return Answer.FacetValue(value: shown, count: count)
        }
        .sorted { $0.count == $1.count ? $0.value < $1.value : $0.count > $1.count }
    }

    /// How the numbers of entries are spread, of which each may have several.
    private func spread(
        _ numbers: [[Int64]], isFitting: Bool, _ written: (Int64) -> Double
    ) -> Answer.Facet {
        var facet = Answer.Facet()
        facet.bands = []
        guard let least = numbers.joined().min(), let greatest = numbers.joined().max() else { return facet }
        (facet.min, facet.max) = (written(least), written(greatest))
        func counts(_ band: (Int64) -> ClosedRange<Int64>) -> [(band: ClosedRange<Int64>, count: Int)] {
            let bands = Dictionary(grouping: numbers.flatMap { Set($0.map(band)) }, by: \.self)
            return bands.map { ($0.key, $0.value.count) }.sorted { $0.0.lowerBound < $1.0.lowerBound }
        }
        var bands = counts(PlainCatalogue.band)
        if isFitting {
            let step = PlainCatalogue.step(from: least, to: greatest)
            let steps = counts { number in
                let first = number - ((number % step) + step) % step
                return first...(first + step - 1)
            }
            if bands.count > 30 || bands.map(\.count).max()! >= steps.map(\.count).max()! { bands = steps }
        }
        facet.bands = bands.map { band, count in
            Answer.Facet.Band(from: written(band.lowerBound), to: written(band.upperBound), count: count)
        }
        return facet
    }

    /// Bands begin at 0, 1, 2, 5, 10, 20, 50 and so on, and end at -1, -2, -3, -6, -11, -21 and so on.
    static func band(_ number: Int64) -> ClosedRange<Int64> {
        if number < 0 {
            let mirrored = band(-1 - number)
            return (-1 - mirrored.upperBound)...(-1 - mirrored.lowerBound)
        }
        var begins: [Int64] = [0, 1]
        while begins[begins.count - 1] <= number {
            let last = begins[begins.count - 1]
            begins.append(String(last).first == "2" ? last / 2 * 5 : last * 2)
        }
        return begins[begins.count - 2]...(begins[begins.count - 1] - 1)
    }

    /// The least width of 1, 2, 5, 10 and so on of which 12 bands are enough, and that differs in the first two digits.
    static func step(from least: Int64, to greatest: Int64) -> Int64 {
        let digits = [least, greatest].map { String($0 < 0 ? -1 - $0 : $0).count }.max()!
        var step: Int64 = 1
        while true {
            let first = least - ((least % step) + step) % step
            if String(step).count >= digits - 1, (greatest - first) / step < 12 { return step }
            step = String(step).first == "2" ? step / 2 * 5 : step * 2
        }
    }
}
