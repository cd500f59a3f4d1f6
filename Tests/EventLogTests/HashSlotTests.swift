import Domain
import Testing

@testable import EventLog

@Suite struct HashSlotTests {
    private static func slot(_ key: String) -> Int { Array(key.utf8).withUnsafeBytes { HashSlot(of: $0).number } }

    @Test func `The checksum has its published check value`() {
        #expect(CRC16.checksum(of: "123456789".utf8) == 0x31C3)
        #expect(CRC16.checksum(of: "".utf8) == 0)
    }

    /// What Redis 7 answers to `CLUSTER KEYSLOT`.
    @Test(arguments: [
        ("", 0), ("123456789", 12_739), ("foo", 12_182), ("somekey", 11_058), ("c1", 14_347), ("a{b}c", 3_300),
        ("b", 3_300),
        ("foo{hash_tag}", 2_515), ("hash_tag", 2_515),
    ])
    func `A key has the slot that Redis gives it`(_ key: String, _ slot: Int) {
        #expect(Self.slot(key) == slot)
        if let id = Identifier(key) { #expect(HashSlot(of: id).number == slot) }
    }

    @Test(arguments: [
        ("{user1000}.following", "user1000"), ("foo{{bar}}zap", "{bar"), ("foo{bar}{zap}", "bar"), ("}{a}", "a"),
        ("}x{a}b", "a"),
    ])
    func `Only the first tag counts`(_ key: String, _ tag: String) { #expect(Self.slot(key) == Self.slot(tag)) }

    @Test(arguments: ["foo{}{bar}", "{}", "{", "}", "a}b{", "{x", "a{}b"])
    func `A key without anything between its first braces counts as a whole`(_ key: String) {
        #expect(Self.slot(key) == Int(CRC16.checksum(of: key.utf8)) % 16_384)
    }
}
