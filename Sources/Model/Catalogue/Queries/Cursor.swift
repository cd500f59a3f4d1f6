internal import Domain
internal import Foundation
internal import TextFormats

/// Where a page ended: the key of its last listing, as of the revision that the first page was read at.
struct Cursor {
    /// The most bytes of a cursor: a folded name may have eleven times its length.
    static let maximumLength = 4_096

    /// The fingerprint of the query.
    var query: UInt64
    /// The catalogue's revision when the first page was read.
    var revision: Int64
    var key: SortKey

    init(query: UInt64, revision: Int64, key: SortKey) {
        self.query = query
        self.revision = revision
        self.key = key
    }

    // MARK: As text

    /// The cursor as one word that needs no quotes.
    var text: String {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginArray()
        writer.string(String(query, radix: 16))
        writer.integer(revision)
        writer.integer(key.tier)
        writer.integer(key.number)
        writer.string(key.name.string)
        writer.string(key.id.outlet.rawValue)
        if let item = key.id.item { writer.string(item.rawValue) }
        writer.endArray()
        return Data(writer.bytes).base64EncodedString().map { Cursor.urlSafe[$0].map(String.init) ?? String($0) }
            .joined()
    }

    /// The cursor in a text; nil if the text is not a cursor.
    init?(_ text: String) {
        guard text.utf8.count <= Cursor.maximumLength,
            let data = Data(base64Encoded: String(text.map { Cursor.standard[$0] ?? $0 })),
            let value = try? JSONValue(Array(data)), case .array(let parts) = value, (6...7).contains(parts.count),
            case .string(let query) = parts[0], let query = UInt64(query, radix: 16),
            case .number(let revision) = parts[1], let revision = Int64(revision),
            case .number(let tier) = parts[2], let tier = Int(tier),
            case .number(let number) = parts[3], let number = Int64(number),
            case .string(let name) = parts[4], case .string(let outlet) = parts[5], let outlet = Identifier(outlet)
        else { return nil }
        var item: Identifier?
        if parts.count == 7 {
            guard case .string(let text) = parts[6], let id = Identifier(text) else { return nil }
            item = id
        }
        self.init(
            query: query, revision: revision,
            key: SortKey(tier: tier, number: number, name: Text(name), id: ListingID(outlet: outlet, item: item)))
    }

    private static let urlSafe: [Character: Character] = ["+": "-", "/": "_", "=": "."]
    private static let standard: [Character: Character] = ["-": "+", "_": "/", ".": "="]
}
