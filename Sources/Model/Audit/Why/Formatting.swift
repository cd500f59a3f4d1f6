internal import Domain
internal import Projections

extension Timestamp {
    /// As people read it, to the second: `2026-11-21 14:02:03Z`.
    var words: String {
        let text = rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }
}

extension Int {
    /// The number with its noun: `1 event`, `2 events`.
    public func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension String {
    var quoted: String { "\"\(self)\"" }
}

extension Text {
    var quoted: String { string.quoted }
}

extension Charge {
    /// `service 1.67 GBP`, `VAT 0.58 GBP included`.
    func words(in currency: Currency) -> String {
        let name =
            switch kind {
            case .service: "service"
            case .smallOrder: "small order"
            case .delivery: "delivery"
            case .tax: "\(name ?? "tax")"
            case .tip: "tip"
            case .discount: "\(name ?? "discount") of \(payer?.rawValue ?? "nobody")"
            }
        return "\(name) \(amount.words(in: currency))\(isIncluded ? " included" : "")"
    }
}

extension CartLine {
    /// The item with its options: `Burger (2 × Cheese, Large)`.
    var choice: String {
        if options.isEmpty { return "\(name)" }
        let words = options.map { $0.units == 1 ? "\($0.name)" : "\($0.units) × \($0.name)" }
        return "\(name) (\(words.joined(separator: ", ")))"
    }

    /// The line at its price, with its total: `2 × Hopper at 6.95 GBP = 13.90 GBP`.
    func words(in currency: Currency, _ texts: DecryptedTexts) -> String {
        let total = (try? total()).map { " = \($0.words(in: currency))" } ?? ""
        let note = note.map { ", note \(texts.text(of: $0).quoted)" } ?? ""
        return "\(quantity) × \(choice) at \(unitPrice.words(in: currency))\(total)\(note)"
    }
}
