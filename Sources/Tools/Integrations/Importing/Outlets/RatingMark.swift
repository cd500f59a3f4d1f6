/// A rating and a number of ratings, as `2.9/80`, by which a source says that there is no rating yet.
struct RatingMark: Hashable, CustomStringConvertible {
    /// In hundredths.
    var rating: Int64
    var ratingCount: Int64

    init(rating: Int64, ratingCount: Int64) {
        self.rating = rating
        self.ratingCount = ratingCount
    }

    /// The mark that a text names; nil where it is none.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(\.trimmingBlanks)
        guard parts.count == 2, let rating = try? Int64(decimal: parts[0], digits: 2),
            let count = try? Int64(decimal: parts[1], digits: 0)
        else { return nil }
        self.init(rating: rating, ratingCount: count)
    }

    /// Hundredths as a rating is written: `2.9`.
    static func text(_ hundredths: Int64) -> String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        return rest == 0 ? "\(whole)" : "\(whole).\(rest / 10)\(rest % 10 == 0 ? "" : String(rest % 10))"
    }

    var description: String { "\(RatingMark.text(rating))/\(ratingCount)" }
}
