/// How a section lays its items out.
public struct Layout: Hashable, Sendable {
    /// The width and height of a card, in points.
    public struct CardSize: Hashable, Sendable {
        /// Width in points.
        public let width: Int
        /// Height in points.
        public let height: Int

        /// The sizes that a card may have, on either side.
        public static let range = 1...10_000

        /// A size, or nil where a side is out of ``range``.
        public init?(width: Int, height: Int) {
            guard CardSize.range.contains(width), CardSize.range.contains(height) else { return nil }
            self.width = width
            self.height = height
        }
    }

    /// The style's registered name.
    public let style: Text
    /// The size of the cards, for styles that have cards.
    public let cardSize: CardSize?
    /// The least width of a card in points, for styles whose cards share the width of the screen.
    public let minimumWidth: Int?

    /// A layout of that style.
    public init(style: Text, cardSize: CardSize? = nil, minimumWidth: Int? = nil) {
        self.style = style
        self.cardSize = cardSize
        self.minimumWidth = minimumWidth
    }

    /// Rows, one below the other.
    public static let list = Layout(style: "list")

    /// Cards of one size, side by side. For sizes known when written: what comes from outside makes a
    /// ``CardSize`` first.
    ///
    /// - Precondition: both sides lie in ``CardSize/range``.
    public static func horizontalCard(width: Int, height: Int) -> Layout {
        guard let size = CardSize(width: width, height: height) else {
            preconditionFailure("a registered card size out of range")
        }
        return Layout(style: "horizontalCard", cardSize: size)
    }
}
