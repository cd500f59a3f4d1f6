/// A rating that may stand for "no rating yet".
///
/// Sources that must fill the field write one fixed pair of rating and number of ratings for every outlet
/// without enough of them. Real ratings differ: so a number of ratings that many rows have, all with the one
/// same rating, may be such a pair. A user who knows the source decides: what a row means does not depend on
/// which rows are beside it.
struct PlaceholderRating: Equatable, CustomStringConvertible {
    /// With fewer rows, one rating in all of them may be chance.
    static let fewestRows = 100

    var mark: RatingMark
    /// How many rows have the pair.
    var rows: Int

    /// What may be placeholders among rated rows, the most frequent first.
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
            return PlaceholderRating(mark: RatingMark(rating: rating, ratingCount: count), rows: rows)
        }
        .sorted { ($1.rows, $0.mark.ratingCount) < ($0.rows, $1.mark.ratingCount) }
    }

    var description: String {
        "all \(rows.counted("row")) with \(mark.ratingCount.grouped) ratings are rated "
            + "\(RatingMark.text(mark.rating)): if that means not rated yet, add --unrated \(mark)"
    }
}
