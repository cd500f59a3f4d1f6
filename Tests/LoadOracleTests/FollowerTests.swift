import SeededRandom
import Testing
import TextFormats

@testable import LoadOracle

/// A channel according to the protocol: documents by their revisions, and messages from one to the next.
private struct Channel {
    var random: SeededGenerator
    var documents: [Int64: JSONValue]
    var revision: Int64
    /// The revision that the last message led to.
    var told: Int64
    var follower = Follower("home:o")
    var compared = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        revision = Int64(random.number(1..<1_000))
        told = revision
        documents = [revision: .document(&random)]
    }

    mutating func begin() throws {
        #expect(try hear(from: told, to: told, patch: Array("[]".utf8)) == false)
    }

    mutating func change() {
        let next = revision + Int64(random.number(1..<20))
        documents[next] = documents[revision]?.edited(&random)
        revision = next
    }

    func patch(from: Int64, to: Int64) throws -> [UInt8] {
        try JSONPatch.bytes(from: try #require(documents[from]).text, to: try #require(documents[to]).text)
    }

    /// Everything that has happened since the last message, in one message.
    mutating func tell() throws {
        guard told < revision else { return }
        let from = told
        told = revision
        try hear(from: from, to: revision, patch: try patch(from: from, to: revision))
    }

    @discardableResult
    mutating func hear(from: Int64, to: Int64, patch: [UInt8]) throws -> Bool {
        let text = #"{"outlet":"o","from":\#(from),"to":\#(to),"patch":\#(String(decoding: patch, as: UTF8.self))}"#
        let hasCompared = try follower.heard(try #require(JSON(Array(text.utf8)))).hasCompared
        compared += hasCompared ? 1 : 0
        return hasCompared
    }

    mutating func read() throws { try read(try #require(documents[revision]), at: revision) }

    mutating func read(_ document: JSONValue, at revision: Int64) throws {
        compared += try follower.read(try #require(JSON(document.text)), revision: revision) ? 1 : 0
    }

    /// Some random events, all of them correct.
    mutating func goOn(_ steps: Int) throws {
        for _ in 0..<steps {
            switch random.number(0..<4) {
            case 0: change()
            case 1: try tell()
            default: try read()
            }
        }
    }
}

@Suite("A follower of a channel")
struct FollowerTests {
    @Test("finds nothing wrong with correct messages, and compares", arguments: UInt64(0)..<16)
    func right(seed: UInt64) throws {
        var channel = Channel(seed: seed)
        try channel.begin()
        try channel.goOn(300)
        #expect(channel.compared > 20)
    }

    @Test("compares nothing before the first message")
    func before() throws {
        var channel = Channel(seed: 1)
        try channel.read()
        #expect(!channel.follower.hasBegun && channel.compared == 0 && channel.follower.behind == nil)
    }

    @Test("finds a gap between messages, and a message that is sent twice", arguments: UInt64(0)..<16)
    func gaps(seed: UInt64) throws {
        for shift: Int64 in [-1, 1] {
            var channel = Channel(seed: seed)
            try channel.begin()
            try channel.goOn(50)
            channel.change()
            let (from, to) = (channel.told, channel.revision)
            let patch = try channel.patch(from: from, to: to)
            #expect(throws: Violation.self) { try channel.hear(from: from + shift, to: to, patch: patch) }
        }
        var channel = Channel(seed: seed)
        try channel.begin()
        try channel.goOn(50)
        channel.change()
        let from = channel.told
        try channel.tell()
        let patch = try channel.patch(from: from, to: channel.told)
        #expect(throws: Violation.self) { try channel.hear(from: from, to: channel.told, patch: patch) }
    }

    @Test("finds a channel that begins with a change, or goes back")
    func beginnings() throws {
        var channel = Channel(seed: 1)
        #expect(throws: Violation.self) { try channel.hear(from: 1, to: 2, patch: Array("[]".utf8)) }
        channel = Channel(seed: 1)
        try channel.begin()
        #expect(throws: Violation.self) {
            try channel.hear(from: channel.told, to: channel.told - 1, patch: Array("[]".utf8))
        }
    }

    @Test("finds a document that is older than the last message", arguments: UInt64(0)..<16)
    func stale(seed: UInt64) throws {
        var channel = Channel(seed: seed)
        try channel.begin()
        try channel.goOn(50)
        let old = channel.told
        channel.change()
        try channel.tell()
        let document = try #require(channel.documents[old])
        #expect(throws: Violation.self) { try channel.read(document, at: old) }
    }

    @Test(
        "finds a patch that lacks an operation, with the next document that is read", arguments: UInt64(0)..<16)
    func wrongPatches(seed: UInt64) throws {
        var channel = Channel(seed: seed)
        try channel.begin()
        try channel.goOn(50)
        try channel.tell()
        try channel.read()
        channel.change()
        let (from, to) = (channel.told, channel.revision)
        let operations = try #require(JSON(try channel.patch(from: from, to: to))?.array)
        guard operations.count > 1 || operations.first?["path"]?.text != "" else { return }
        guard case .array(let all) = try JSONValue(try channel.patch(from: from, to: to)) else { return }
        try channel.hear(from: from, to: to, patch: JSONValue.array(all.dropLast()).text)
        #expect(throws: Violation.self) { try channel.read() }
        #expect(channel.follower.history.count == 2)
    }

    @Test("finds a document that differs from what the messages lead to, even if it is read before the message")
    func wrongDocument() throws {
        for readsBefore in [false, true] {
            var channel = Channel(seed: 3)
            try channel.begin()
            try channel.goOn(20)
            try channel.tell()
            try channel.read()
            channel.change()
            var wrong = try #require(channel.documents[channel.revision])
            wrong["title"] = .string("another")
            if readsBefore {
                try channel.read(wrong, at: channel.revision)
                #expect(channel.follower.behind == channel.revision)
                #expect(throws: Violation.self) { try channel.tell() }
            } else {
                try channel.tell()
                #expect(throws: Violation.self) { try channel.read(wrong, at: channel.revision) }
            }
        }
    }

    @Test("takes the document it reads if it has none, and compares from then on")
    func adopts() throws {
        var channel = Channel(seed: 5)
        try channel.begin()
        // Read before the message that leads to it …
        channel.change()
        try channel.read()
        try channel.tell()
        #expect(channel.compared == 0)
        try channel.read()
        #expect(channel.compared == 1)
        // … or between two changes that are sent together: then it has to be read again.
        channel = Channel(seed: 6)
        try channel.begin()
        channel.change()
        try channel.read()
        channel.change()
        try channel.tell()
        try channel.read()
        #expect(channel.compared == 0)
        try channel.read()
        #expect(channel.compared == 1)
    }

    @Test("keeps the document of the messages, whatever is read in between")
    func keeps() throws {
        var channel = Channel(seed: 6)
        try channel.begin()
        try channel.read()
        channel.change()
        try channel.read()
        channel.change()
        try channel.tell()
        try channel.read()
        #expect(channel.compared == 1)
    }

    @Test(
        "finds a message that is not a change",
        arguments: ["{}", #"{"from":1,"to":2}"#, #"{"from":1,"to":1,"patch":{}}"#, "[]"])
    func noChange(text: String) throws {
        var follower = Follower("home:o")
        let message = try #require(JSON(Array(text.utf8)))
        #expect(throws: Violation.self) { try follower.heard(message) }
    }

    @Test("does not compare the problems of a cart, but everything else")
    func carts() throws {
        func cart(_ quantity: Int, problem: String) -> String {
            #"{"version":3,"lines":[{"line":"i1","quantity":\#(quantity),"problem":\#(problem)}]}"#
        }
        func whole(_ cart: String, from: Int, to: Int) throws -> JSON {
            let patch = #"[{"op":"replace","path":"","value":\#(cart)}]"#
            return try #require(JSON(Array(#"{"cart":"c","from":\#(from),"to":\#(to),"patch":\#(patch)}"#.utf8)))
        }
        var follower = Follower("cart:c")
        let before = try whole(cart(1, problem: "null"), from: 3, to: 3)
        #expect(try !follower.heard(before).hasCompared)
        let soldOut = try #require(JSON(Array(cart(1, problem: #"{"code":"SOLDOUT"}"#).utf8)))
        #expect(try follower.read(soldOut, revision: 3))
        let another = try #require(JSON(Array(cart(2, problem: "null").utf8)))
        #expect(throws: Violation.self) { try follower.read(another, revision: 3) }
    }
}
