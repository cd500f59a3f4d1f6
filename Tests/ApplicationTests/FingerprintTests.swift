import Domain
import EventLog
import Testing
import TextFormats
import Users

@testable import Application

/// The fingerprint tells a command that is sent again from a different one with the same ID.
@Suite struct FingerprintTests {
    private static let call = "CART.ADD c1 o1 tea 2 NOTE hot"

    private static func metadata<Value>(
        _ words: [String], _ read: (borrowing Call, OptionalParameter<Text>) throws -> Value
    ) throws -> Value {
        var parameters = ParameterList(for: "CART.ADD")
        for name in ["cart", "outlet", "item", "quantity"] { _ = parameters.required(name, .text) }
        let note = parameters.option("NOTE", "text", .text)
        _ = parameters.option("CUSTOMER", "customer", .identifier)
        let declaration = CommandDeclaration(
            "CART.ADD", .carts, role: .customer, effect: .write(.cart), "Tests.", parameters)
        return try withArguments(words) { try read(try Call(declaration, $0), note) }
    }

    private static func fingerprint(_ words: [String]) throws -> String {
        try #require(try metadata(words) { call, _ in try call.metadata().fingerprint.map { "\($0)" } })
    }

    private static func fingerprint(_ call: String) throws -> String { try fingerprint(call.words) }

    @Test func `the fingerprint of a call never changes`() throws {
        // As in events of version 0.1.0: a command sent again after an upgrade must still be recognised.
        #expect(try Self.fingerprint("CART.ADD c1 o1 tea 2 NOTE hot ID a") == "b7e7cfd0f29cc425")
    }

    @Test(arguments: [
        "CART.ADD c1 o1 tea 2 ID a NOTE hot", "CART.ADD c1 o1 tea 2 NOTE hot id a",
        "cart.add c1 o1 tea 2 NOTE hot ID a", "Cart.Add c1 o1 tea 2 ID another NOTE hot",
    ])
    func `the place of the ID, its value, and the letter case of the name make no difference`(call: String) throws {
        #expect(try Self.fingerprint(call) == Self.fingerprint("\(Self.call) ID a"))
    }

    @Test(arguments: [
        "CART.SET c1 o1 tea 2 NOTE hot ID a", "CART.ADD c2 o1 tea 2 NOTE hot ID a",
        "CART.ADD C1 o1 tea 2 NOTE hot ID a", "CART.ADD c1 o1 tea 3 NOTE hot ID a",
        "CART.ADD c1 o1 tea 2 NOTE cold ID a", "CART.ADD c1 o1 tea 2 ID a",
        "CART.ADD c1 o1 tea 2 NOTE hot VERSION 1 ID a",
    ])
    func `everything else does`(call: String) throws {
        #expect(try Self.fingerprint(call) != Self.fingerprint("\(Self.call) ID a"))
    }

    @Test func `an argument that reads like the ID is not the ID`() throws {
        let one = try Self.fingerprint("CART.ADD ID a tea 2 ID a")
        #expect(try one == Self.fingerprint("CART.ADD ID a tea 2 ID b"))
        #expect(try one != Self.fingerprint("CART.ADD ID b tea 2 ID a"))
    }

    @Test func `word boundaries make a difference`() throws {
        #expect(
            try Self.fingerprint(["CART.ADD", "ab", "c", "tea", "2", "ID", "a"])
                != Self.fingerprint(["CART.ADD", "a", "bc", "tea", "2", "ID", "a"]))
    }

    private static func sealedFingerprint(_ call: String, _ sealed: String?) throws -> String {
        let fingerprint = try metadata(call.words) { call, note in
            try call.metadata(sealing: note)(sealed.map { SealedText(ciphertext: Text($0)) }).fingerprint.map {
                "\($0)"
            }
        }
        return try #require(fingerprint)
    }

    @Test func `a sealed text counts as ciphertext, and reveals nothing of the text`() throws {
        let call = "CART.ADD c1 o1 tea 2 NOTE hot CUSTOMER a ID x"
        let one = try Self.sealedFingerprint(call, "abc")
        #expect(try one == Self.fingerprint("CART.ADD c1 o1 tea 2 NOTE abc CUSTOMER a ID x"))
        #expect(try one == Self.sealedFingerprint("CART.ADD c1 o1 tea 2 NOTE cold CUSTOMER a ID x", "abc"))
        #expect(try one == Self.sealedFingerprint("CART.ADD c1 o1 tea 2 ID x NOTE hot CUSTOMER a", "abc"))
        #expect(try one != Self.sealedFingerprint(call, "abd"))
        #expect(try one != Self.sealedFingerprint("CART.ADD c1 o1 tea 2 NOTE hot CUSTOMER b ID x", "abc"))
        #expect(try one != Self.sealedFingerprint("CART.ADD c1 o1 tea 2 CUSTOMER a NOTE hot ID x", "abc"))
    }

    @Test func `a customer's call without a text has the fingerprint of any other call`() throws {
        let call = "CART.ADD c1 o1 tea 2 CUSTOMER a ID x"
        #expect(try Self.sealedFingerprint(call, nil) == Self.fingerprint(call))
    }

    @Test func `a call without an ID has no fingerprint`() throws {
        #expect(try Self.metadata(Self.call.words) { call, _ in try call.metadata() } == .none)
    }
}
