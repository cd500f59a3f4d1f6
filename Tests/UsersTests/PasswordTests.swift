import Domain
import EventLog
import SeededRandom
import Testing

@testable import Users

@Suite struct PasswordTests {
    @Test func `A password matches its hash, and nothing else does`() throws {
        let password = Array("correct horse".utf8)
        let hash = PasswordHash(of: password)
        #expect(hash.matches(password))
        for other in ["", "correct hors", "correct horsf", "correct horse ", "Correct horse", "correct horse\0"] {
            #expect(!hash.matches(Array(other.utf8)), "\(other)")
        }
        let stored = try #require(PasswordHash(encoded: hash.encoded))
        #expect(stored == hash && stored.matches(password))
        #expect(hash.encoded.hasPrefix("$scrypt$ln=15,r=8,p=1$") && !hash.encoded.hasSuffix("="))
    }

    @Test func `The same password has another hash each time`() {
        let password = Array("correct horse".utf8)
        #expect(PasswordHash(of: password) != PasswordHash(of: password))
        #expect(!PasswordHash.ofNobody.matches(password))
    }

    /// RFC 7914, section 12: "pleaseletmein" with N = 16384, r = 8, p = 1.
    @Test func `A hash that others have made is understood`() throws {
        let hash = try #require(
            PasswordHash(
                encoded: "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$"
                    + "cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw"))
        #expect(hash.matches(Array("pleaseletmein".utf8)))
        #expect(!hash.matches(Array("pleaseletmeout".utf8)))
    }

    @Test(arguments: [
        "", "secret", "$scrypt$", "$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$",
        "$argon2$ln=15,r=8,p=1$AAAAAAAAAAAA$AAAA",
        "$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=15,r=8$AAAAAAAAAAA$AAAAAAAAAAA",
        "$scrypt$ln=-1,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=24,r=64,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=,r=,p=$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=15,r=8,p=1$!!!!!!!!!!!!$AAAAAAAAAAAAAAAAAAAAAA",
    ])
    func `What is no hash, or would cost too much, is refused`(text: String) {
        #expect(PasswordHash(encoded: text) == nil)
    }

    @Test func `A token is recognised by its digest`() throws {
        let (first, second) = (Token.random(), Token.random())
        #expect(first.text != second.text && first.digest != second.digest)
        #expect(first.digest == Digest.of(Array(first.text.utf8)))
        let user = User(try #require(Identifier("robot")), role: .auditor, tokens: [first.digest])
        #expect(user.has(try #require(Token(Array(first.text.utf8)))))
        #expect(!user.has(second))
        for text in [
            "", "tiffin_", String(first.text.dropLast()), first.text + "0", "Tiffin_" + first.text.dropFirst(7),
        ] {
            #expect(Token(Array(text.utf8)) == nil, "\(text)")
        }
    }
}
