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

    /// Counts of words, of numbers, or of both.
    struct Facet: Decodable, Equatable {
        struct Band: Decodable, Equatable {
            var from: Double
            var to: Double
            var count: Int
        }

        /// Nil for a facet of numbers alone.
        var values: [FacetValue]?
        var min: Double?
        var max: Double?
        /// Nil for a facet of words alone.
        var bands: [Band]?

        private enum CodingKeys: CodingKey {
            case values, min, max, bands
        }

        init(values: [FacetValue]? = nil) { self.values = values }

        init(from decoder: any Decoder) throws {
            if let values = try? decoder.singleValueContainer().decode([FacetValue].self) {
                self.values = values
                return
            }
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            values = try fields.decodeIfPresent([FacetValue].self, forKey: .values)
            min = try fields.decodeIfPresent(Double.self, forKey: .min)
            max = try fields.decodeIfPresent(Double.self, forKey: .max)
            bands = try fields.decode([Band].self, forKey: .bands)
        }
    }

    var total: Int
    var items: [Listed]
    var next: String?
    var facets: [String: Facet?]?
    var state: String
    var suggestions: [String]?

    var ids: [ListingID] { items.map(\.listingID) }
    var names: [String] { items.map(\.name) }

    init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(Answer.self, from: Data(bytes))
    }
}

extension Catalogue {
    /// The page that answers these words.
    func answer(_ words: [String], of kind: ListingKind = .items) throws -> Answer {
        try Answer(page(try query(words, of: kind, options: [.sort, .limit, .after, .facets])).bytes)
    }

    /// One of the matches of these words.
    func surprise(_ words: [String], of kind: ListingKind = .items) throws -> ListingID? {
        let bytes = surprise(try query(words, of: kind, options: [.seed]))
        return try bytes.map { try JSONDecoder().decode(Answer.Listed.self, from: Data($0)).listingID }
    }
}
