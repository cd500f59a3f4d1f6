import Domain
import Foundation

@testable import Catalogue

/// A page, read back.
struct Answer: Decodable {
    struct Listed: Decodable {
        /// Of an item.
        var outlet: String?
        /// Of an item.
        var item: String?
        /// Of an outlet.
        var id: String?
        var name: String

        var listingID: ListingID {
            ListingID(outlet: Identifier(outlet ?? id!)!, item: item.flatMap(Identifier.init))
        }
    }

    struct FacetValue: Decodable, Equatable {
        var value: Text
        var count: Int

        init(value: Text, count: Int) {
            self.value = value
            self.count = count
        }

        private enum CodingKeys: CodingKey {
            case value, count
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            value = Text(try fields.decode(String.self, forKey: .value))
            count = try fields.decode(Int.self, forKey: .count)
        }
    }

    var total: Int
    var items: [Listed]
    var next: String?
    var facets: [String: [FacetValue]]?
    var state: String

    var ids: [ListingID] { items.map(\.listingID) }
    var names: [String] { items.map(\.name) }

    init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(Answer.self, from: Data(bytes))
    }
}

extension Catalogue {
    /// The page that answers these words.
    func answer(_ words: [String], of kind: ListingKind = .items) throws -> Answer {
        try Answer(page(try query(words, of: kind, options: [.sort, .limit, .after, .facets])))
    }

    /// One of the matches of these words.
    func surprise(_ words: [String], of kind: ListingKind = .items) throws -> ListingID? {
        let bytes = surprise(try query(words, of: kind, options: [.seed]))
        return try bytes.map { try JSONDecoder().decode(Answer.Listed.self, from: Data($0)).listingID }
    }
}
