import Domain
import Testing
import TextFormats

@testable import Application

@Suite struct TopicNameTests {
    @Test func `every kind has a prefix of its own, without a colon`() {
        let prefixes = TopicKind.all.map(\.prefix)
        #expect(Set(prefixes).count == prefixes.count)
        #expect(prefixes.allSatisfy { !$0.isEmpty && !$0.contains(":") })
    }

    @Test(arguments: TopicKind.all.map(\.prefix))
    func `a channel is a prefix, a colon and an id`(prefix: String) throws {
        for id in ["a", "A:b", ":", String(repeating: "x", count: 64)] {
            try withArguments(["\(prefix):\(id)"]) { call in
                let name = try TopicName(call[0])
                #expect(name.channel == "\(prefix):\(id)")
                #expect(name.kind.prefix == prefix)
                #expect(name.id.rawValue == id)
            }
        }
    }

    @Test(arguments: ["", ":", "home", "home:", "Home:a", "homes:a", "home :a", "home:a b", " home:a", "home:é", "x:a"])
    func `anything else is refused by name`(channel: String) throws {
        let text = try withArguments([channel]) { call in try failure { _ = try TopicName(call[0]) } }
        #expect(text?.hasPrefix("INVALID channel '\(channel)'") ?? false)
    }
}
