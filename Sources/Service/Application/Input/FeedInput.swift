internal import Domain
internal import TextFormats

/// The document of `MENU.FEED.PUT`: also as `MENU.FEED.GET` gives it.
struct FeedInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("state", .words(of: FeedCheck.State.self)), .optional("problems", .list(of: .string)),
        .optional("source", .string), .optional("etag", .string), .optional("modified", .string),
        .optional("key", .string, "of how it was read"), .ignored("checkedAt"), .ignored("refreshedAt"),
    ]

    private let state: FeedCheck.State
    private let problems: [Text]
    private let source: Text?
    private let validators: FeedCheck.Validators?

    init(_ fields: InputFields) throws(InputError) {
        let name: Text = try fields.required("state")
        guard let state = FeedCheck.State(rawValue: name.string) else {
            let known = FeedCheck.State.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError("state", "must be one of \(known)")
        }
        self.state = state
        problems = try fields.optional("problems") ?? []
        source = try fields.optional("source")
        let etag: Text? = try fields.optional("etag")
        let modified: Text? = try fields.optional("modified")
        let key: Text? = try fields.optional("key")
        guard let key else {
            guard etag == nil, modified == nil else { throw InputError("key", "is missing") }
            validators = nil
            return
        }
        validators = FeedCheck.Validators(etag: etag, modified: modified, key: key)
    }

    func check(at now: Timestamp) -> FeedCheck {
        FeedCheck(state, at: now, source: source, problems: problems, validators: validators)
    }
}
