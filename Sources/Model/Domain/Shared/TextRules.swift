/// Bounds on the texts of the domain, in bytes of UTF-8.
public enum TextRules {
    /// Names and titles, and the names of kinds and styles.
    public static let name = 1...200
    /// Descriptions of items.
    public static let description = 0...2_000
    /// One line of an address, a city, an area, a cuisine, a tag.
    public static let line = 1...300
    /// The URL of an image.
    public static let url = 1...2_000
    /// The customer's note on a line, and a reason given for a pause.
    public static let note = 1...500

    /// The number to call about an order.
    public static let phone = 1...40
    /// Where to bring an order.
    public static let address = 1...500
    /// What an outlet calls a table.
    public static let table = 1...40

    /// Rejects a text out of bounds, or one with control characters, naming its field.
    public static func check(
        _ text: Text, _ subject: @autoclosure () -> Rejection.Subject, _ bounds: ClosedRange<Int>
    ) throws(Rejection) {
        let length = text.utf8.count
        guard bounds.contains(length) else {
            throw .invalid(subject(), "must have \(bounds.lowerBound)–\(bounds.upperBound) bytes, has \(length)")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .invalid(subject(), "must not contain control characters")
        }
    }

    /// As ``check(_:_:_:)``, if there is a text.
    public static func check(
        _ text: Text?, _ subject: @autoclosure () -> Rejection.Subject, _ bounds: ClosedRange<Int>
    ) throws(Rejection) {
        if let text { try check(text, subject(), bounds) }
    }

    /// Rejects a list that is too long, or any of its texts that is out of bounds.
    public static func check(
        _ texts: [Text], _ field: @autoclosure () -> String, atMost count: Int
    ) throws(Rejection) {
        guard texts.count <= count else { throw .invalid(.field(field()), "must have at most \(count) entries") }
        for (index, text) in texts.enumerated() { try check(text, "\(field())[\(index)]", line) }
    }
}
