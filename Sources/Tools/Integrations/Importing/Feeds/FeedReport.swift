internal import Domain
internal import HTTP
internal import LineProtocol
internal import TextFormats

/// What a feed was found to hold: the document of `MENU.FEED.PUT`, and of `MENU.FEED.GET`.
struct FeedReport: Equatable {
    var state: FeedCheck.State
    var source: String
    private(set) var problems: [String] = []
    private(set) var validators = HTTPValidators()
    /// For what the validators hold; see ``FeedKey``.
    private(set) var key: String?
    /// When the server last recorded it.
    private(set) var checkedAt: String?

    /// A report of a feed that has these problems, as far as a server keeps them.
    init(_ state: FeedCheck.State, source: String, problems: [Problem] = []) {
        self.state = state
        self.source = source.cut(to: TextRules.url.upperBound)
        let most = FeedCheck.maximumProblems
        let kept = problems.count <= most ? problems.count : most - 1
        self.problems = problems.prefix(kept).map { $0.description.cut(to: TextRules.line.upperBound) }
        if kept < problems.count { self.problems.append("and \((problems.count - kept).grouped) more") }
    }

    /// What a server answers to `MENU.FEED.GET`; nil if it is no report.
    init?(_ reply: Reply) {
        guard let text = reply.string, let json = try? JSONValue(Array(text.utf8)),
            let state = json.text("state").flatMap(FeedCheck.State.init), case .array(let problems)? = json["problems"]
        else { return nil }
        self.state = state
        source = json.text("source") ?? ""
        self.problems = problems.compactMap { if case .string(let text) = $0 { text } else { nil } }
        validators = HTTPValidators(etag: json.text("etag"), modified: json.text("modified"))
        key = json.text("key")
        checkedAt = json.text("checkedAt")
    }

    /// Notes by what to ask the feed next time, and for which import.
    mutating func set(_ validators: HTTPValidators, _ key: String) {
        guard validators != HTTPValidators() else { return }
        (self.validators, self.key) = (validators, key)
    }

    /// The document of `MENU.FEED.PUT`.
    var document: String {
        var json = JSONWriter()
        json.beginObject()
        json.field("state", state.rawValue)
        json.field("source", source)
        json.field("problems", problems)
        json.field("etag", validators.etag)
        json.field("modified", validators.modified)
        json.field("key", key)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension JSONValue {
    fileprivate func text(_ key: String) -> String? {
        if case .string(let text)? = self[key] { text } else { nil }
    }
}

extension String {
    /// The text without control characters, and cut to so many bytes.
    fileprivate func cut(to maximum: Int) -> String {
        let mark = "…"
        let text = String(
            String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        guard text.utf8.count > maximum else { return text }
        var (result, length) = ("", mark.utf8.count)
        for character in text {
            length += character.utf8.count
            guard length <= maximum else { break }
            result.append(character)
        }
        return result + mark
    }
}
