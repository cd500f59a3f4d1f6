import Domain
import Projections
import TextAnalysis

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
                case .open: true
                case .closed: false
                case .paused(let until, _): until <= now
                }
            var outlet = Entry(
                id: ListingID(outlet: record.id), name: details.name, foldedName: fold(details.name),
                nameTerms: terms(details.name),
                otherTerms: terms(details.cuisines + [details.city ?? "", details.area ?? ""]),
                cuisines: details.cuisines, city: details.city, area: details.area, kinds: [], tags: [], attributes: [],
                price: details.priceForTwo?.minorUnits, rating: (details.rating?.hundredths).map(Int64.init),
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
                let (first, second) = (key(a.entry, question.sort), key(b.entry, question.sort))
                if first != second { return first < second }
            }
            return (a.entry.id.outlet.rawValue, a.entry.id.item?.rawValue ?? "")
                < (b.entry.id.outlet.rawValue, b.entry.id.item?.rawValue ?? "")
        }
        .map(\.entry)
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
            question.price?.contains(entry.price) ?? true, question.rating?.contains(entry.rating) ?? true,
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

    /// The counts of the listings that a question finds, each without what it asks of the facet itself.
    func facets(_ question: Question, of found: [Entry]) throws -> [String: [Answer.FacetValue]] {
        let all = question.kind == .items ? items : outlets
        func count(
            without own: (inout Question) -> Void, _ values: (Entry) -> [Text]
        ) throws -> [Answer.FacetValue] {
            func others(_ question: Question) -> Question {
                var others = question
                own(&others)
                return others
            }
            var wider = others(question)
            wider.excluded.removeAll { others($0) != $0 }
            let entries = wider == question ? found : try self.found(wider)
            var spellings: [Text: [Text: Int]] = [:]
            for entry in all {
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
        return [
            "cuisines": try count(without: { $0.cuisines = [] }) { $0.cuisines },
            "cities": try count(without: { $0.cities = [] }) { $0.city.map { [$0] } ?? [] },
            "kinds": try count(without: { $0.itemKinds = [] }) { Array($0.kinds) },
            "tags": try count(without: { $0.tags = [] }) { Array($0.tags) },
            "prices": try count(without: { $0.price = nil }) { $0.price.map { [PlainCatalogue.band($0)] } ?? [] },
        ]
    }

    /// Bands begin at 0, 1, 2, 5, 10, 20, 50 and so on.
    static func band(_ price: Int64) -> Text {
        var begins: [Int64] = [0, 1]
        while begins[begins.count - 1] <= price {
            let last = begins[begins.count - 1]
            begins.append(String(last).first == "2" ? last / 2 * 5 : last * 2)
        }
        let end = begins[begins.count - 1]
        return "\(begins[begins.count - 2])-\(end - 1)"
    }
}
