/// A rating from 0 to 5 in steps of a hundredth.
public struct Rating: Hashable, Comparable, Sendable {
    /// The rating times a hundred: 440 for 4.4.
    public let hundredths: Int

    /// A rating, or nil where it is not from 0 to 500 hundredths.
    public init?(hundredths: Int) {
        guard (0...500).contains(hundredths) else { return nil }
        self.hundredths = hundredths
    }

    /// Orders by rating.
    public static func < (a: Rating, b: Rating) -> Bool { a.hundredths < b.hundredths }
}
