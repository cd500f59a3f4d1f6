import Domain
import Foundation
import SeededRandom
import Testing

/// Two spellings of one text are two texts, wherever they appear.
@Suite struct TextTests {
    private static let composed: Text = "caf\u{E9}"
    private static let decomposed: Text = "cafe\u{301}"

    @Test func `texts are equal if their bytes are`() {
        #expect(Self.composed.string == Self.decomposed.string, "these are equal as strings")
        #expect(Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed, "café"]).count == 2)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `texts are compared and hashed by their bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "a", "b", "\u{E9}", "e\u{301}", "e", "\u{301}", "\u{212A}", "K", "त", "🍱", "\u{0}", "long enough for words",
        ]
        for _ in 0..<200 {
            let (a, b) = (random.text(of: parts), random.text(of: parts))
            #expect((a == b) == a.utf8.elementsEqual(b.utf8))
            #expect((a < b) == a.utf8.lexicographicallyPrecedes(b.utf8))
            #expect(a == Text(String(decoding: Array(a.utf8), as: UTF8.self)))
            #expect(a.hashValue == Text(String(decoding: Array(a.utf8), as: UTF8.self)).hashValue)
        }
    }

    // MARK: In every value

    @Test func `an outlet's texts change to their other spellings`() throws {
        let texts: [WritableKeyPath<OutletDetails, Text>] = [\.name, \.timeZone]
        let places: [WritableKeyPath<OutletDetails, Text?>] = [\.city, \.area, \.address]
        func details(_ text: Text) -> OutletDetails {
            places.reduce(texts.reduce(.sample) { $0.with($1, text) }) { $0.with($1, text) }
        }
        let old = [Outlet.Event.registered(details(Self.composed))]
        let events = try Outlet.decide(.put(details(Self.decomposed)), in: Outlet.state(after: old))
        guard case .detailsChanged(let changes) = events.first else {
            Issue.record("nothing changed")
            return
        }
        #expect(changes.count == 5)
        #expect(
            try Outlet.state(after: old + events)
                == .registered(details(Self.decomposed), .closed, isHidden: false))
    }

    @Test func `cuisines, reasons, titles, names and tags change to their other spellings`() throws {
        let outlet = Outlet.State.registered(.sample.with(\.cuisines, [Self.composed]), .open, isHidden: false)
        #expect(try Outlet.decide(.put(.sample.with(\.cuisines, [Self.decomposed])), in: outlet).count == 1)
        let paused = Outlet.State.registered(
            .sample, .paused(until: 9, reason: Self.composed), isHidden: false)
        #expect(try Outlet.decide(.pause(until: 9, reason: Self.decomposed, now: 1), in: paused).count == 1)

        func menu(_ text: Text) -> MenuDocument {
            let items = [
                MenuItem.sample("name").with(\.name, text), MenuItem.sample("tags").with(\.tags, [text]),
                MenuItem.sample("cuisine").with(\.cuisine, text), MenuItem.sample("text").with(\.description, text),
            ]
            return MenuDocument(sections: [MenuSection(header: .sample("s", title: text), items: items)])
        }
        let events = try Menu.decide(.put(menu(Self.decomposed)), in: Menu.state(after: menu(Self.composed).history))
        #expect(events.count == 5)
        #expect(try Menu.state(after: menu(Self.composed).history + events).document == menu(Self.decomposed))
    }

    @Test func `notes in two spellings are two lines`() throws {
        var state = Cart.initial
        for note in [Self.composed, Self.decomposed, Self.composed] {
            let addition = Cart.Addition(
                outlet: "o", item: "tea", quantity: 1, note: .plain(note), offer: .sample())
            for event in try Cart.decide(.add(addition), in: state) { try Cart.evolve(&state, event) }
        }
        #expect(state.contents?.lines.map(\.id) == ["tea", "tea~2"])
        #expect(state.contents?.lines.map(\.quantity) == [2, 1])
    }

    /// The domain's own values compare nothing as a `String`.
    @Test func `no value of the domain is a String`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Model/Domain")
        // ASCII that was checked, messages for people, and names that are in the program.
        let allowed = [
            "Text.swift", "Identifier.swift", "Currency.swift", "Currency+Decimals.swift", "Rejection.swift",
            "Decider.swift", "Kinds.swift", "StableHash.swift", "OptionRules.swift", "ProblemList.swift",
        ]
        let stored = /(?:let|var) \w+:[^{=]*\bString\b[^{]*$|case \w+\([^)]*\bString\b/.anchorsMatchLineEndings()
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            guard !allowed.contains(file.lastPathComponent) else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.firstMatch(of: stored) == nil, "\(file.lastPathComponent)")
        }
        #expect(count > 20)
    }
}

extension SeededGenerator {
    fileprivate mutating func text(of parts: [String]) -> Text {
        Text((0..<number(0..<5)).map { _ in pick(parts) }.joined())
    }
}
