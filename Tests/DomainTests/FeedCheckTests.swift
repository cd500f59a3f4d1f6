import Domain
import Testing

/// What a menu records of the source that it is imported from.
@Suite struct FeedCheckTests {
    private typealias Specification = DeciderSpecification<Menu>
    typealias Case = DeciderCase<Menu>

    private static let interval = FeedCheck.recordingInterval
    private static let validators = FeedCheck.Validators(etag: "\"a\"", key: "k")
    private static let lunch: [Menu.Event] = [
        .sectionAdded(.sample("lunch"), before: nil), .itemAdded(.sample("tea"), section: "lunch", before: nil),
    ]

    private static func check(
        _ state: FeedCheck.State, at: Int64, refreshed: Int64? = nil, _ problems: [Text] = [],
        _ validators: FeedCheck.Validators? = nil
    ) -> FeedCheck {
        FeedCheck(
            state, at: Timestamp(millisecondsSinceEpoch: at),
            refreshedAt: refreshed.map(Timestamp.init(millisecondsSinceEpoch:)), source: "menu.json",
            problems: problems, validators: validators)
    }

    private static let ready = Menu.Event.feedChecked(check(.ready, at: 7, refreshed: 7))

    @Test(
        arguments: [
            Case(
                "ready: refreshed", given: lunch, when: .checkFeed(check(.ready, at: 7)),
                then: .events([.feedChecked(check(.ready, at: 7, refreshed: 7))])),
            Case(
                "malformed, and never was anything else", when: .checkFeed(check(.malformed, at: 7, ["no"])),
                then: .events([.feedChecked(check(.malformed, at: 7, ["no"]))])),
            Case(
                "malformed since: refreshed when it was ready", given: lunch + [ready],
                when: .checkFeed(check(.malformed, at: 9, ["no"])),
                then: .events([.feedChecked(check(.malformed, at: 9, refreshed: 7, ["no"]))])),
            Case(
                "empty, as the menu is: refreshed", when: .checkFeed(check(.empty, at: 7)),
                then: .events([.feedChecked(check(.empty, at: 7, refreshed: 7))])),
            Case(
                "empty, and the menu is not", given: lunch + [ready], when: .checkFeed(check(.empty, at: 9)),
                then: .events([.feedChecked(check(.empty, at: 9, refreshed: 7))])),
            Case(
                "who checks does not say when it was refreshed",
                when: .checkFeed(check(.malformed, at: 9, refreshed: 8)),
                then: .events([.feedChecked(check(.malformed, at: 9))])),
        ] as [Case])
    func `a check says when the menu last was what its source holds`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "soon after", given: lunch + [ready], when: .checkFeed(check(.ready, at: 7 + interval - 1)),
                then: .events([])),
            Case(
                "later", given: lunch + [ready], when: .checkFeed(check(.ready, at: 7 + interval)),
                then: .events([.feedChecked(check(.ready, at: 7 + interval, refreshed: 7 + interval))])),
            Case(
                "by a clock that went back", given: lunch + [ready], when: .checkFeed(check(.ready, at: 6)),
                then: .events([.feedChecked(check(.ready, at: 6, refreshed: 6))])),
            Case(
                "with a problem", given: lunch + [ready], when: .checkFeed(check(.ready, at: 8, ["no"])),
                then: .events([.feedChecked(check(.ready, at: 8, refreshed: 8, ["no"]))])),
            Case(
                "after the end of time", given: [.feedChecked(check(.ready, at: .min, refreshed: .min))],
                when: .checkFeed(check(.ready, at: .max)),
                then: .events([.feedChecked(check(.ready, at: .max, refreshed: .max))])),
        ] as [Case])
    func `a check that finds the same is recorded once in five minutes`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            (.sectionChanged(.sample("lunch", title: "Noon")), false), (.itemRepriced("tea", 1), false),
            (.itemRemoved("tea"), false), (.itemSuspended("tea", until: nil), true),
        ] as [(Menu.Event, Bool)])
    func `validators hold until the menu reads differently`(change: Menu.Event, hold: Bool) throws {
        let checked = Menu.Event.feedChecked(Self.check(.ready, at: 7, refreshed: 7, [], Self.validators))
        #expect(try Menu.state(after: Self.lunch + [checked]).feed?.validators == Self.validators)
        let state = try Menu.state(after: Self.lunch + [checked, change])
        #expect(state.feed?.validators == (hold ? Self.validators : nil))
        #expect(state.feed?.state == .ready)
    }

    @Test(
        arguments: [
            (Array(repeating: "no", count: 21), "problems: "),
            (["no", Text(String(repeating: "p", count: 301))], "problems[1]: "), (["line\nline"], "problems[0]: "),
        ] as [([Text], String)])
    func `problems have bounds`(problems: [Text], field: String) {
        Specification.given().when(.checkFeed(Self.check(.malformed, at: 7, problems)))
            .thenRejected(.invalid, naming: [field])
    }

    @Test func `sources and validators have bounds`() {
        let long = Text(String(repeating: "x", count: 2_001))
        let checks: [(String, FeedCheck)] = [
            ("source", FeedCheck(.ready, at: 7, source: long)),
            ("etag", FeedCheck(.ready, at: 7, validators: .init(etag: long, key: "k"))),
            ("modified", FeedCheck(.ready, at: 7, validators: .init(modified: "", key: "k"))),
            ("key", FeedCheck(.ready, at: 7, validators: .init(key: "\u{7F}"))),
        ]
        for (field, check) in checks {
            Specification.given().when(.checkFeed(check)).thenRejected(.invalid, naming: ["\(field): "])
        }
    }
}
