/// How a section lays its items out.
package struct Layout: Hashable, Sendable {
    /// The width and height of a card, in points.
    package struct CardSize: Hashable, Sendable {
        /// Width in points.
        package let width: Int
        /// Height in points.
        package let height: Int

        /// The sizes that a card may have, on either side.
        package static let range = 1...10_000

        /// A size, or nil where a side is out of ``range``.
        package init?(width: Int, height: Int) {
            guard CardSize.range.contains(width), CardSize.range.contains(height) else { return nil }
            self.width = width
            self.height = height
        }
    }

    /// The style's registered name.
    package let style: Text
    /// The size of the cards, for styles that have cards.
    package let cardSize: CardSize?
    /// The least width of a card in points, for styles whose cards share the width of the screen.
    package let minimumWidth: Int?

    /// A layout of that style.
    package init(style: Text, cardSize: CardSize? = nil, minimumWidth: Int? = nil) {
        self.style = style
        self.cardSize = cardSize
        self.minimumWidth = minimumWidth
    }

    /// Rows, one below the other.
    package static let list = Layout(style: "list")

    /// Cards of one size, side by side. For sizes known when written: what comes from outside makes a
    /// ``CardSize`` first.
    ///
    /// - Precondition: both sides lie in ``CardSize/range``.
    package static func horizontalCard(width: Int, height: Int) -> Layout {
        guard let size = CardSize(width: width, height: height) else {
            preconditionFailure("a registered card size out of range")
        }
        return Layout(style: "horizontalCard", cardSize: size)
    }
}
