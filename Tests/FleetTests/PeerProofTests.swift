import Fleet
import SeededRandom
import Testing

@Suite struct PeerProofTests {
    private static func proof(
        _ caller: String, _ callee: String, secret: [UInt8] = Array(0..<32), binding: [UInt8] = []
    ) -> PeerProof {
        var proof = PeerProof(secret: secret, binding: binding)
        proof.nonces = (caller, callee)
        return proof
    }

    private static let binding: [UInt8] = Array(200..<232)

    /// Another program has computed them: the HMAC-SHA256 of `6:caller4:a1b26:c3d4e5` and the like, and the binding.
    @Test func `A proof is what other versions of the server take it for`() {
        let (plain, bound) = (Self.proof("a1b2", "c3d4e5"), Self.proof("a1b2", "c3d4e5", binding: Self.binding))
        #expect(plain.text(of: .caller) == "f48c44a87f829ea57aea707fd3cfc3b7ede3b93e0f7f98c658b49d9341a78c3f")
        #expect(plain.text(of: .callee) == "72aeef84d1e5a7871b7ccc751c33b36e2a76ed7d9087fac5499874b06a83be57")
        #expect(bound.text(of: .caller) == "b07ec8dc24c86452562770b2dd2a50c34d0490fd1ef9836b07a2891c0044898c")
        #expect(bound.text(of: .callee) == "7b072bc191e0f134c0994064c968e277145d1510e6a777b4b8bc414ea6f7a267")
        // Lengths are in bytes, and neither a secret nor a nonce needs any.
        #expect(
            Self.proof("é", "", secret: []).text(of: .callee)
                == "8d577f37dd32c1c7fa7809d9e7434dee2264d4b8351c9cc34132e8c07bb5534d")
    }

    @Test(arguments: [PeerProof.Side.caller, .callee])
    func `Only the very text is right`(_ side: PeerProof.Side) {
        let proof = Self.proof("a1b2", "c3d4e5", binding: Self.binding)
        let text = proof.text(of: side)
        #expect(proof.isRight(text, of: side))
        #expect(!proof.isRight(text, of: side == .caller ? .callee : .caller))
        for wrong in ["", String(text.dropLast()), text + "0", text.uppercased(), String(text.reversed()), text + "\0"]
        {
            #expect(!proof.isRight(wrong, of: side), "\(wrong)")
        }
        for index in text.indices {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "0" ? "1" : "0")
            #expect(!proof.isRight(wrong, of: side))
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Everything that goes into a proof changes it, and no byte can move to another part`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func text(_ count: Int) -> String { String((0..<count).map { _ in random.pick(Array("0123456789:é")) }) }
        struct Parts: Hashable {
            var caller, callee: [UInt8]
            var secret: [UInt8]
            var binding: [UInt8] = []
        }
        // Its last byte is not 0, which the HMAC takes for the end.
        let secret = (0..<31).map { _ in UInt8.random(in: 0 ... .max, using: &random) } + [1]
        let whole = text(random.number(1...24))
        // The same text, cut everywhere.
        var all = Set(
            (whole.indices + [whole.endIndex]).map {
                Parts(caller: Array(whole[..<$0].utf8), callee: Array(whole[$0...].utf8), secret: secret)
            })
        let first = Parts(caller: Array(whole.utf8), callee: [], secret: secret)
        for digit in "09".utf8 {
            all.insert(Parts(caller: first.caller + [digit], callee: [], secret: secret))
            all.insert(Parts(caller: first.caller, callee: [digit], secret: secret))
            all.insert(Parts(caller: first.caller, callee: [], secret: secret, binding: [digit]))
            all.insert(Parts(caller: first.caller, callee: [], secret: secret + [digit]))
        }
        all.insert(Parts(caller: first.caller, callee: [], secret: secret.dropLast()))
        let texts = Set(
            all.flatMap { parts in
                let proof = Self.proof(
                    String(decoding: parts.caller, as: UTF8.self), String(decoding: parts.callee, as: UTF8.self),
                    secret: parts.secret, binding: parts.binding)
                return [proof.text(of: .caller), proof.text(of: .callee)]
            })
        #expect(texts.count == 2 * all.count)
    }

    @Test func `The words of one side cannot stand for those of the other`() {
        // As if the side's name were part of a nonce.
        #expect(Self.proof("6:caller", "").text(of: .callee) != Self.proof("", "6:callee").text(of: .caller))
        #expect(Self.proof("a", "1:b").text(of: .caller) != Self.proof("a1:1", "b").text(of: .caller))
        // A binding cannot stand for the end of a nonce.
        let bound = Self.proof("a", "b", binding: Array("c".utf8))
        #expect(bound.text(of: .caller) != Self.proof("a", "bc").text(of: .caller))
    }

    @Test func `Secrets and nonces by chance are long, and never the same`() {
        let (secrets, nonces) = ((0..<100).map { _ in PeerProof.newSecret() }, (0..<100).map { _ in PeerProof.nonce() })
        #expect(Set(secrets).count == 100 && secrets.allSatisfy { $0.count == 32 })
        #expect(Set(nonces).count == 100)
        #expect(nonces.allSatisfy { (32...PeerProof.maximumNonceLength).contains($0.utf8.count) })
    }
}
