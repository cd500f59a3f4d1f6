/// What came of looking at the source that a menu is imported from.
public struct FeedCheck: Equatable, Sendable {
    /// The most problems that are kept of a check.
    public static let maximumProblems = ProblemList.maximumCount
    /// A check that finds what the last one found, and comes no later than this after it, is not recorded: in
    /// milliseconds. So a feed that is looked at every second does not fill the log.
    public static let recordingInterval: Int64 = 300_000

    /// What the source holds.
    public enum State: String, CaseIterable, Sendable {
        /// A menu, which was taken.
        case ready
        /// A menu without items.
        case empty
        /// Nothing that can be taken, or nothing at all.
        case malformed
    }

    /// By what the source can be asked whether it has changed.
    public struct Validators: Equatable, Sendable {
        /// The `ETag` of HTTP.
        public var etag: Text?
        /// The `Last-Modified` of HTTP, as the source wrote it.
        public var modified: Text?
        /// For what they hold. They are of no use to an import with another key.
        public var key: Text

        /// The validators of an answer.
        public init(etag: Text? = nil, modified: Text? = nil, key: Text) {
            self.etag = etag
            self.modified = modified
            self.key = key
        }
    }

    /// What the source holds.
    public var state: State
    /// When it was looked at.
    public var at: Timestamp
    /// When the menu last was what the source holds; nil if it never was. The menu decides that, not who checks.
    public var refreshedAt: Timestamp?
    /// Where it is. Merchants see it, and customers do not.
    public var source: Text?
    /// What is wrong with it, for people.
    public var problems: [Text]
    /// Absent if the source gave none, and in a state as soon as the menu has changed since the check.
    public var validators: Validators?

    /// A check with everything that is not named left out.
    public init(
        _ state: State, at: Timestamp, refreshedAt: Timestamp? = nil, source: Text? = nil, problems: [Text] = [],
        validators: Validators? = nil
    ) {
        self.state = state
        self.at = at
        self.refreshedAt = refreshedAt
        self.source = source
        self.problems = problems
        self.validators = validators
    }

    /// About the bytes of its texts.
    public var bytes: Int {
        let validators = [validators?.etag, validators?.modified, validators?.key]
        return (problems + validators.compactMap(\.self)).reduce(source?.utf8.count ?? 0) { $0 + $1.utf8.count }
    }

    /// Rejects a check with a value out of range.
    func validate() throws(Rejection) {
        try TextRules.check(source, "source", TextRules.url)
        try TextRules.check(problems, "problems", atMost: Self.maximumProblems)
        guard let validators else { return }
        try TextRules.check(validators.etag, "etag", TextRules.line)
        try TextRules.check(validators.modified, "modified", TextRules.line)
        try TextRules.check(validators.key, "key", TextRules.line)
    }

    /// The check as it is recorded after an earlier one, by a menu with or without items.
    func recorded(after last: FeedCheck?, menuIsEmpty: Bool) -> FeedCheck {
        let isShown =
            switch state {
            case .ready: true
            case .empty: menuIsEmpty
            case .malformed: false
            }
        var check = self
        check.refreshedAt = isShown ? at : last?.refreshedAt
        return check
    }

    /// Whether it says nothing new after an earlier check.
    func repeats(_ last: FeedCheck) -> Bool {
        var again = last
        (again.at, again.refreshedAt) = (at, refreshedAt)
        guard again == self, last.at <= at else { return false }
        let (passed, overflow) = at.millisecondsSinceEpoch.subtractingReportingOverflow(last.at.millisecondsSinceEpoch)
        return !overflow && passed < Self.recordingInterval
    }
}
