extension Reply {
    /// The reply on one line, shortened, as a person reads it.
    public var summary: String {
        switch self {
        case .simple(let text), .verbatim(_, let text): Reply.shortened(text)
        case .bulk(let bytes): Reply.shortened(String(decoding: bytes, as: UTF8.self))
        case .error(let code, let message): Reply.shortened("-\(code) \(message)")
        case .integer(let value): ":\(value)"
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bigNumber(let digits): Reply.shortened(digits)
        case .array(let values), .set(let values), .push(let values):
            Reply.shortened("[\(values.map(\.summary).joined(separator: ", "))]")
        case .map(let pairs):
            Reply.shortened("{\(pairs.map { "\($0.key.summary): \($0.value.summary)" }.joined(separator: ", "))}")
        }
    }

    /// The most characters of a text that are shown.
    private static let shownLength = 400

    private static func shortened(_ text: String) -> String {
        text.count <= shownLength ? text : "\(text.prefix(shownLength))… (\(text.utf8.count) bytes)"
    }
}
