/// A rating that stands for "no rating yet".
///
/// Sources that must fill the field write one fixed pair of rating and number of ratings for every outlet
/// without enough of them. Real ratings differ: so a number of ratings that many rows have, all with the one
/// same rating, is such a pair.
struct PlaceholderRating: Equatable, CustomStringConvertible {
    /// With fewer rows, one rating in all of them may be chance.
    static let fewestRows = 100

    var ratingCount: Int64
    /// In hundredths.
    var rating: Int64
    /// How many rows have the pair.
    var rows: Int

    /// The placeholders among rated rows, the most frequent first.
    static func find(in rows: [OutletRow]) -> [PlaceholderRating] {
        var rowsOfRating: [Int64: [Int64: Int]] = [:]
        for row in rows {
            guard let count = row.ratingCount, let rating = row.rating else { continue }
            rowsOfRating[count, default: [:]][rating, default: 0] += 1
        }
        return rowsOfRating.compactMap { count, ratings in
            guard ratings.count == 1, let (rating, rows) = ratings.first, rows >= fewestRows else {
                return nil
            }
            return PlaceholderRating(ratingCount: count, rating: rating, rows: rows)
        }
        .sorted { ($1.rows, $0.ratingCount) < ($0.rows, $1.ratingCount) }
    }

    var description: String {
        let rated = "\(rating / 100).\(rating % 100 / 10)\(rating % 10 == 0 ? "" : String(rating % 10))"
        return "all \(rows.counted("row")) with \(ratingCount.grouped) ratings are rated \(rated): "
            + "taken as not rated yet (--keep-ratings takes them as they are)"
    }
}
