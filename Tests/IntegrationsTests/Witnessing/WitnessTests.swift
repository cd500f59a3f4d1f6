import EventLog
import Foundation
import Integrations
import SeededRandom
import Testing

/// A witness is judged by trees that are worked out here from all of their leaves.
@Suite final class WitnessTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "witness-\(UUID())").path
    private let log = NoteSigner(name: "log.example", kind: .signer, key: .random())!
    private let own = NoteSigner(name: "w.example", kind: .cosigner, key: .random())!

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func witness(knowing logs: [NoteVerifier]? = nil) throws -> Witness {
        Witness(signer: own, logs: logs ?? [log.verifier], folder: try NoteFolder(folder))
    }

    private static func leaves(_ count: Int, _ seed: UInt8 = 0) -> [Digest] {
        (0..<count).map { Digest.of([seed, UInt8($0 & 255), UInt8($0 >> 8)]) }
    }

    /// RFC 9162, section 2.1.1, word by word.
    private static func root(_ leaves: ArraySlice<Digest>) -> Digest {
        guard let first = leaves.first else { return Digest.of([]) }
        guard leaves.count > 1 else { return first }
        let middle = leaves.startIndex + split(leaves.count)
        return Digest.of([1] + root(leaves[..<middle]).bytes + root(leaves[middle...]).bytes)
    }

    private static func split(_ count: Int) -> Int {
        var width = 1
        while 2 * width < count { width *= 2 }
        return width
    }

    /// RFC 9162, section 2.1.4.1, word by word.
    private static func proof(_ earlier: Int, _ leaves: ArraySlice<Digest>, _ isWhole: Bool = true) -> [Digest] {
        guard earlier < leaves.count else { return isWhole ? [] : [root(leaves)] }
        let width = split(leaves.count)
        let middle = leaves.startIndex + width
        return earlier <= width
            ? proof(earlier, leaves[..<middle], isWhole) + [root(leaves[middle...])]
            : proof(earlier - width, leaves[middle...], false) + [root(leaves[..<middle])]
    }

    private func note(_ leaves: [Digest], in origin: String = "log.example", by signer: NoteSigner? = nil) -> SignedNote
    {
        let head = SignedHead(
            of: TreeHead(
                partition: 0, size: Int64(leaves.count), root: Self.root(leaves[...]), position: Int64(leaves.count),
                digest: .zero), in: origin)
        return SignedNote(text: head.text, signatures: [(signer ?? log).sign(head.text, at: 0)])
    }

    private static func body(_ note: SignedNote, from earlier: Int, _ proof: [Digest]) -> String {
        (["old \(earlier)"] + proof.map { Data($0.bytes).base64EncodedString() }).map { "\($0)\n" }.joined()
            + "\n\(note)"
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A log that grows is cosigned each time, also by a witness that was started again`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed, of: 1)
        var earlier = 0
        for _ in 0..<12 {
            let leaves = Self.leaves(earlier + random.below(40))
            let note = note(leaves)
            let proof = earlier == 0 ? [] : Self.proof(earlier, leaves[...])
            let answer = try witness().add(Self.body(note, from: earlier, proof), at: 77)
            #expect(answer.status == 200)
            let signature = try #require(SignedNote.Signature(line: answer.body.dropLast()))
            var cosigned = note
            cosigned.signatures.append(signature)
            #expect(own.verifier.find(in: cosigned) == .signed(at: 77))
            earlier = leaves.count
        }
    }

    @Test func `Of two histories one is cosigned, and the other never`() throws {
        let witness = try witness()
        #expect(try witness.add(Self.body(note(Self.leaves(5)), from: 0, []), at: 1).status == 200)
        let other = Self.leaves(9, 1)
        #expect(try witness.add(Self.body(note(other), from: 0, []), at: 1).status == 409)
        #expect(try witness.add(Self.body(note(other), from: 5, Self.proof(5, other[...])), at: 1).status == 422)
        #expect(try witness.add(Self.body(note(Self.leaves(5, 1)), from: 5, []), at: 1).status == 422)
        let right = Self.leaves(9)
        #expect(try witness.add(Self.body(note(right), from: 5, Self.proof(5, right[...])), at: 1).status == 200)
    }

    @Test func `A log that lost what was cosigned is told what that was`() throws {
        let witness = try witness()
        #expect(try witness.add(Self.body(note(Self.leaves(9)), from: 0, []), at: 1).status == 200)
        let answer = try witness.add(Self.body(note(Self.leaves(7)), from: 7, []), at: 1)
        #expect((answer.status, answer.body, answer.type) == (409, "9\n", "text/x.tlog.size"))
        #expect(try witness.add(Self.body(note(Self.leaves(7)), from: 9, []), at: 1).status == 400)
    }

    @Test func `A log that is not known, or has not signed, is refused`() throws {
        let stranger = NoteSigner(name: "log.example", kind: .signer, key: .random())!
        let leaves = Self.leaves(3)
        let witness = try witness()
        #expect(try witness.add(Self.body(note(leaves, in: "other.example"), from: 0, []), at: 1).status == 404)
        #expect(try witness.add(Self.body(note(leaves, by: stranger), from: 0, []), at: 1).status == 403)
        var forged = note(leaves)
        forged.signatures[0].bytes[0] ^= 1
        #expect(try witness.add(Self.body(forged, from: 0, []), at: 1).status == 403)
        var both = note(leaves)
        both.signatures.append(stranger.sign(both.text, at: 0))
        #expect(try witness.add(Self.body(both, from: 0, []), at: 1).status == 200)
    }

    @Test func `A log may change keys`() throws {
        let next = NoteSigner(name: "log.example", kind: .signer, key: .random())!
        let witness = try witness(knowing: [log.verifier, next.verifier])
        let (old, new) = (Self.leaves(3), Self.leaves(6))
        #expect(try witness.add(Self.body(note(old), from: 0, []), at: 1).status == 200)
        #expect(try witness.add(Self.body(note(new, by: next), from: 3, Self.proof(3, new[...])), at: 1).status == 200)
    }

    @Test(arguments: ["", "old 0", "old 0\n\n", "old x\n\n", "old -1\n\n", "old 00\n\n", "new 0\n\n"])
    func `What is no request gets 400`(_ start: String) throws {
        #expect(try witness().add(start, at: 1).status == 400)
        #expect(try witness().add(start + "\u{2014}\n", at: 1).status == 400)
    }

    @Test func `The newest head is shown with the signatures that count`() throws {
        let witness = try witness()
        let name = Digest.of(Array("log.example/0".utf8)).description
        #expect(try witness.newest(name).status == 404)
        var note = note(Self.leaves(4))
        note.signatures.append(NoteSigner(name: "x", kind: .signer, key: .random())!.sign(note.text, at: 0))
        _ = try witness.add(Self.body(note, from: 0, []), at: 9)
        let shown = try #require(SignedNote(try witness.newest(name).body))
        #expect(shown.signatures.count == 2)
        #expect(log.verifier.find(in: shown) == .signed(at: nil))
        #expect(own.verifier.find(in: shown) == .signed(at: 9))
        for name in ["..", "", "x", String(repeating: "A", count: 64)] {
            #expect(try witness.newest(name).status == 404)
        }
    }
}
