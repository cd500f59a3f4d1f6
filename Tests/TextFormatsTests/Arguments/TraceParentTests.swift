import SeededRandom
import Testing
import TextFormats

@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test(arguments: [
        ("00", "00", false), ("00", "01", true), ("00", "ff", true), ("00", "fe", false), ("cc", "03", true),
    ])
    func `A field says the trace, the parent and whether it is kept`(
        version: String, flags: String, isSampled: Bool
    ) throws {
        let field = try #require(TraceParent("\(version)-\(Self.trace)-\(Self.parent)-\(flags)"))
        #expect(field.trace == Self.trace)
        #expect(field.parent == Self.parent)
        #expect(field.isSampled == isSampled)
        #expect(field.description == "00-\(Self.trace)-\(Self.parent)-\(flags)")
    }

    @Test func `What a later version adds is left out`() {
        let field = "01-\(Self.trace)-\(Self.parent)-01-what-comes-then"
        #expect(TraceParent(field)?.description == "00-\(Self.trace)-\(Self.parent)-01")
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-01-",
        "ff-\(trace)-\(parent)-01",
        "00-\(trace)-\(parent)-01-more", "01-\(trace)-\(parent)-01more", "00-\(trace.uppercased())-\(parent)-01",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "0x-\(trace)-\(parent)-01",
        "00-\(trace)_\(parent)-01", "00-\(trace)-\(parent)-0g", " 00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-é",
    ])
    func `What is no field is nil`(text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test(arguments: SeededGenerator.seeds) func `Any change of a field is read or nil`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes = Array("00-\(Self.trace)-\(Self.parent)-01".utf8)
            bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(.random(in: 0..<8, using: &random)) }
            guard let field = TraceParent(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(field.description.utf8.count == 55)
            #expect(field.trace.utf8.count == 32 && field.parent.utf8.count == 16)
        }
    }
}
