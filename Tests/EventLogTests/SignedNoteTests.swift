import EventLog
import SeededRandom
import Testing

@Suite struct SignedNoteTests {
    /// The example of c2sp.org/signed-note.
    private static let example = """
        This is an example message.

        \u{2014} example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=

        """
    private static let exampleKey = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"

    private static func signer(_ name: String, _ kind: NoteKeyKind = .signer) -> NoteSigner {
        NoteSigner(name: name, kind: kind, key: .random())!
    }

    @Test func `The example of the specification verifies, and is written as it was read`() throws {
        let note = try #require(SignedNote(Self.example))
        let key = try #require(NoteVerifier(Self.exampleKey))
        #expect(note.text == "This is an example message.\n")
        #expect(key.find(in: note) == .signed(at: nil))
        #expect("\(note)" == Self.example)
        #expect("\(key)" == Self.exampleKey)
    }

    @Test func `The example with another text is forged, and without its signature not signed`() throws {
        let key = try #require(NoteVerifier(Self.exampleKey))
        var note = try #require(SignedNote(Self.example.replacing("message", with: "massage")))
        #expect(key.find(in: note) == .forged)
        note.signatures = []
        #expect(key.find(in: note) == .missing)
    }

    @Test func `A witness says when it has signed, and another time is forged`() throws {
        let witness = Self.signer("w.example", .cosigner)
        var note = SignedNote(text: "a\n1\nb\n")
        note.signatures = [witness.sign(note.text, at: 1_679_315_147)]
        #expect(witness.verifier.find(in: note) == .signed(at: 1_679_315_147))
        note.signatures[0].bytes[7] ^= 1
        #expect(witness.verifier.find(in: note) == .forged)
    }

    @Test func `Keys with one name and other bytes are told apart`() {
        let (one, other) = (Self.signer("log.example"), Self.signer("log.example"))
        let note = SignedNote(text: "a\n", signatures: [one.sign("a\n", at: 0)])
        #expect(one.verifier.find(in: note) == .signed(at: nil))
        #expect(other.verifier.find(in: note) == .missing)
    }

    @Test func `A public key is read from its text as it was written, also where that has plus signs`() throws {
        var texts = 0
        while texts < 20 {
            let verifier = Self.signer("log.example").verifier
            #expect(NoteVerifier(verifier.description) == verifier)
            // One between the parts, and another.
            texts += verifier.description.count(where: { $0 == "+" }) > 2 ? 1 : 0
        }
        for text in ["", "log.example", "log.example+00000000", "log.example+00000000+AQ==", "+00000000+AQ=="] {
            #expect(NoteVerifier(text) == nil)
        }
    }

    @Test func `A key is read from PEM as it was written, and from nothing else`() throws {
        let key = SigningKey.random()
        #expect(try #require(SigningKey(pem: key.pem)).publicKey == key.publicKey)
        #expect(SigningKey(pem: Array("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n".utf8)) == nil)
        #expect(SigningKey(pem: []) == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `However a note is changed, it is read as it is written, or not at all, and nothing false is signed`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed, of: 1)
        let (log, witness) = (Self.signer("log.example"), Self.signer("w.example", .cosigner))
        var note = SignedNote(text: "log.example/0\n12\nabc\n")
        note.signatures = [log.sign(note.text, at: 0), witness.sign(note.text, at: 5)]
        for _ in 0..<200 {
            var bytes = Array("\(note)".utf8)
            for _ in 0...random.below(3) {
                let place = random.below(bytes.count)
                switch random.below(3) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes.remove(at: place)
                default: bytes.insert(random.pick([10, 32, 43, 0xE2, 0x80, 0x94]), at: place)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let read = SignedNote(text) else { continue }
            #expect("\(read)" == text)
            if read.text != note.text {
                #expect(log.verifier.find(in: read) != .signed(at: nil))
                #expect(witness.verifier.find(in: read) != .signed(at: 5))
            }
        }
    }

    @Test(arguments: [
        "", "a", "a\n", "\n\n", "a\n\n", "a\n\nb\n", "a\n\n\u{2014} n\n", "a\n\n\u{2014} n AAAA\n",
        "a\t\n\n\u{2014} n AAAAAAA=\n",
    ])
    func `What is no note is not read as one`(_ text: String) {
        #expect(SignedNote(text) == nil)
    }

    @Test func `A head is read as it is written, and only a head`() throws {
        let head = SignedHead(
            of: TreeHead(partition: 3, size: 12, root: Digest.of([1]), position: 40, digest: Digest.of([2])),
            in: "log.example")
        #expect(SignedHead(text: head.text) == head)
        #expect(head.origin == "log.example/3")
        let lines = head.text.split(separator: "\n")
        for wrong in ["+12", "012", "-1", "", "12 "] {
            #expect(SignedHead(text: "\(lines[0])\n\(wrong)\n\(lines[2])\n") == nil)
        }
        #expect(SignedHead(text: "\(lines[0])\n12\n\(lines[2].dropLast())\n") == nil)
        #expect(SignedHead(text: "\(lines[0])\n12\n") == nil)
        for origin in ["log.example/03", "log.example/", "log.example", "log.example/x", "log.examples/3"] {
            #expect(!SignedHead.isOrigin(origin, ofLog: "log.example"))
        }
        #expect(SignedHead.isOrigin(head.origin, ofLog: "log.example"))
    }
}
