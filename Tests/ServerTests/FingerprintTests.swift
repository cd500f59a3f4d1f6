import Domain
import EventLog
import LineProtocol
import Testing

@testable import Server

/// The fingerprint tells a command that is sent again from another one with the same ID.
@Suite struct FingerprintTests {
    private static let call = "CART.ADD c1 o1 tea 2 NOTE hot"

    /// The fingerprint of a `CART.ADD`, whose options begin behind five words.
    private static func fingerprint(_ words: [String]) throws -> String {
        try withCall(words) { arguments in
            let metadata = try CallOptions(ofWrite: arguments, from: 5, "NOTE").metadata(of: arguments)
            return try #require(metadata.fingerprint)
        }
    }

    private static func fingerprint(_ call: String) throws -> String { try fingerprint(call.words) }

    @Test(arguments: [
        "CART.ADD c1 o1 tea 2 ID a NOTE hot", "CART.ADD c1 o1 tea 2 NOTE hot id a",
        "cart.add c1 o1 tea 2 NOTE hot ID a",
        "Cart.Add c1 o1 tea 2 ID another NOTE hot",
    ])
    func `where the ID stands, what it is, and the case of the command's name make no difference`(
        call: String
    ) throws {
        #expect(try Self.fingerprint(call) == Self.fingerprint("\(Self.call) ID a"))
    }

    @Test(arguments: [
        "CART.SET c1 o1 tea 2 NOTE hot ID a", "CART.ADD c2 o1 tea 2 NOTE hot ID a",
        "CART.ADD C1 o1 tea 2 NOTE hot ID a",
        "CART.ADD c1 o1 tea 3 NOTE hot ID a", "CART.ADD c1 o1 tea 2 NOTE cold ID a", "CART.ADD c1 o1 tea 2 ID a",
        "CART.ADD c1 o1 tea 2 NOTE hot VERSION 1 ID a",
    ])
    func `everything else does`(call: String) throws {
        #expect(try Self.fingerprint(call) != Self.fingerprint("\(Self.call) ID a"))
    }

    @Test func `an argument that reads like the ID is not taken for it`() throws {
        let one = try Self.fingerprint("CART.ADD ID a tea 2 ID a")
        #expect(try one == Self.fingerprint("CART.ADD ID a tea 2 ID b"))
        #expect(try one != Self.fingerprint("CART.ADD ID b tea 2 ID a"))
    }

    @Test func `words are told apart by where they end`() throws {
        #expect(
            try Self.fingerprint(["CART.ADD", "ab", "c", "tea", "2", "ID", "a"])
                != Self.fingerprint(["CART.ADD", "a", "bc", "tea", "2", "ID", "a"]))
    }

    private static func sealedFingerprint(_ call: String, _ sealed: String?) throws -> String {
        try withCall(call.words) { arguments in
            let options = try CallOptions(ofWrite: arguments, from: 5, "NOTE", "CUSTOMER")
            let metadata = try options.metadata(of: arguments, sealing: "NOTE")
            return try #require(metadata(sealed.map(SealedText.init(ciphertext:))).fingerprint)
        }
    }

    @Test func `a sealed text stands in its place as it is sealed, and tells nothing of what it was`() throws {
        let call = "CART.ADD c1 o1 tea 2 NOTE hot CUSTOMER a ID x"
        let one = try Self.sealedFingerprint(call, "abc")
        let asItStands = try withCall("CART.ADD c1 o1 tea 2 NOTE abc CUSTOMER a ID x".words) { arguments in
            try CallOptions(ofWrite: arguments, from: 5, "NOTE", "CUSTOMER").metadata(of: arguments).fingerprint
        }
        #expect(one == asItStands)
        #expect(try one == Self.sealedFingerprint("CART.ADD c1 o1 tea 2 NOTE cold CUSTOMER a ID x", "abc"))
        #expect(try one == Self.sealedFingerprint("CART.ADD c1 o1 tea 2 ID x NOTE hot CUSTOMER a", "abc"))
        #expect(try one != Self.sealedFingerprint(call, "abd"))
        #expect(try one != Self.sealedFingerprint("CART.ADD c1 o1 tea 2 NOTE hot CUSTOMER b ID x", "abc"))
        #expect(try one != Self.sealedFingerprint("CART.ADD c1 o1 tea 2 CUSTOMER a NOTE hot ID x", "abc"))
    }

    @Test func `a customer's call without a text is fingerprinted like any other`() throws {
        let call = "CART.ADD c1 o1 tea 2 CUSTOMER a ID x"
        let plain = try withCall(call.words) { arguments in
            try CallOptions(ofWrite: arguments, from: 5, "NOTE", "CUSTOMER").metadata(of: arguments).fingerprint
        }
        #expect(try Self.sealedFingerprint(call, nil) == plain)
    }

    @Test func `a call without an ID has none`() throws {
        let metadata = try withCall(Self.call.words) { arguments in
            try CallOptions(ofWrite: arguments, from: 5, "NOTE").metadata(of: arguments)
        }
        #expect(metadata == .none)
    }
}
