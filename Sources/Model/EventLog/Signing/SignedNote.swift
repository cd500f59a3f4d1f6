internal import Foundation
internal import TextFormats

/// A text with signatures, as C2SP defines it (c2sp.org/signed-note): nothing of it counts before a signature of a known
/// key was verified.
public struct SignedNote: Equatable, Sendable, CustomStringConvertible {
    /// The longest that is read, in bytes.
    public static let maximumLength = 64 << 10
    /// The most signatures.
    public static let maximumSignatures = 64
    static let dash = "\u{2014} "

    /// The text, with the end of its last line.
    public var text: String
    /// The signatures.
    public var signatures: [Signature]

    /// A signature, of whatever kind.
    public struct Signature: Equatable, Sendable, CustomStringConvertible {
        /// Which key is said to have made it: the name, and the number that follows from name and key.
        public var name: String
        public var keyID: UInt32
        /// What the key made.
        public var bytes: [UInt8]

        init(name: String, keyID: UInt32, bytes: [UInt8]) {
            self.name = name
            self.keyID = keyID
            self.bytes = bytes
        }

        /// The signature of a line without its end.
        public init?(line: some StringProtocol) {
            guard line.hasPrefix(SignedNote.dash) else { return nil }
            let words = line.dropFirst(SignedNote.dash.count).split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, SignedNote.isName(words[0]), let data = Data(base64Encoded: String(words[1])),
                data.count > 4, data.base64EncodedString() == words[1]
            else { return nil }
            let bytes = Array(data)
            self.init(name: String(words[0]), keyID: UInt32(bigEndian: bytes[..<4]), bytes: Array(bytes[4...]))
        }

        /// The line, without its end.
        public var description: String {
            "\(SignedNote.dash)\(name) \(Data(keyID.bigEndianBytes + bytes).base64EncodedString())"
        }
    }

    /// A text, signed by nobody yet.
    public init(text: String, signatures: [Signature] = []) {
        self.text = text
        self.signatures = signatures
    }

    /// A note as it is written; nil if it is none.
    public init?(_ note: String) {
        guard note.utf8.count <= SignedNote.maximumLength, note.hasSuffix("\n"),
            note.utf8.allSatisfy({ $0 >= 0x20 || $0 == UInt8(ascii: "\n") }),
            let blank = note.range(of: "\n\n", options: .backwards)
        else { return nil }
        text = String(note[..<blank.lowerBound]) + "\n"
        signatures = []
        for line in note[blank.upperBound...].dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            guard let signature = Signature(line: line), signatures.count < SignedNote.maximumSignatures else {
                return nil
            }
            signatures.append(signature)
        }
    }

    /// The note as it is written.
    public var description: String { "\(text)\n\(signatures.map { "\($0)\n" }.joined())" }

    /// Whether a key can have this name.
    static func isName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0 != "+" && $0.value >= 0x20 }
    }
}

/// What a key is for. The same private key must not be used for both.
public enum NoteKeyKind: UInt8, Sendable {
    /// Signs the text: the key of a log.
    case signer = 1
    /// Signs the text with the time (c2sp.org/tlog-cosignature): the key of a witness.
    case cosigner = 4

    /// What is signed of a text.
    fileprivate func message(_ text: String, at time: UInt64) -> [UInt8] {
        switch self {
        case .signer: Array(text.utf8)
        case .cosigner: Array("cosignature/v1\ntime \(time)\n\(text)".utf8)
        }
    }

    /// The number of a key with a name.
    fileprivate func id(_ name: String, _ publicKey: [UInt8]) -> UInt32 {
        UInt32(bigEndian: Digest.of(Array("\(name)\n".utf8) + [rawValue] + publicKey).bytes[..<4])
    }
}

/// A private key with its name.
public struct NoteSigner: Sendable {
    private let name: String
    private let kind: NoteKeyKind
    private let key: SigningKey

    /// A key; nil if it cannot have this name, which must be without spaces and plus signs.
    public init?(name: String, kind: NoteKeyKind, key: SigningKey) {
        guard SignedNote.isName(name) else { return nil }
        self.name = name
        self.kind = kind
        self.key = key
    }

    /// How its signatures are verified.
    public var verifier: NoteVerifier { NoteVerifier(name: name, kind: kind, publicKey: key.publicKey) }

    /// Signs a text.
    ///
    /// - Parameter time: in seconds since 1970; only a witness says it.
    public func sign(_ text: String, at time: UInt64) -> SignedNote.Signature {
        let signature = key.sign(kind.message(text, at: time))
        return SignedNote.Signature(
            name: name, keyID: kind.id(name, key.publicKey),
            bytes: kind == .cosigner ? time.bigEndianBytes + signature : signature)
    }
}

/// A public key with its name, as `<name>+<number>+<key>`: what verifies signatures.
public struct NoteVerifier: Hashable, Sendable, CustomStringConvertible {
    /// The name of the log, or of the witness.
    public let name: String
    /// What it is for.
    public let kind: NoteKeyKind
    private let publicKey: [UInt8]
    private let id: UInt32

    fileprivate init(name: String, kind: NoteKeyKind, publicKey: [UInt8]) {
        self.name = name
        self.kind = kind
        self.publicKey = publicKey
        id = kind.id(name, publicKey)
    }

    /// The key of a text; nil if it is none, or of another kind than Ed25519.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, SignedNote.isName(parts[0]), let data = Data(base64Encoded: String(parts[2])),
            data.count == 1 + SigningKey.publicLength, let kind = NoteKeyKind(rawValue: data[data.startIndex])
        else { return nil }
        self.init(name: String(parts[0]), kind: kind, publicKey: Array(data.dropFirst()))
        guard parts[1] == id.hexadecimal else { return nil }
    }

    /// The text.
    public var description: String {
        "\(name)+\(id.hexadecimal)+\(Data([kind.rawValue] + publicKey).base64EncodedString())"
    }

    /// What a note has from a key.
    public enum Finding: Equatable, Sendable {
        /// It has signed; if it is a witness, at this time, in seconds since 1970.
        case signed(at: UInt64?)
        /// It has not.
        case missing
        /// There is a signature that says so, and is none of it.
        case forged
    }

    /// Looks for a signature of this key.
    public func find(in note: SignedNote) -> Finding {
        guard let signature = note.signatures.first(where: { $0.name == name && $0.keyID == id }) else {
            return .missing
        }
        var bytes = signature.bytes[...]
        var time: UInt64?
        if kind == .cosigner {
            guard bytes.count == 8 + SigningKey.signatureLength else { return .forged }
            time = UInt64(bigEndian: bytes.prefix(8))
            bytes = bytes.dropFirst(8)
        }
        let isSigned = SigningKey.isSignature(
            Array(bytes), of: kind.message(note.text, at: time ?? 0), by: publicKey)
        return isSigned ? .signed(at: time) : .forged
    }
}

extension FixedWidthInteger {
    /// The number that bytes are, the highest first.
    fileprivate init(bigEndian bytes: ArraySlice<UInt8>) { self = bytes.reduce(0) { $0 << 8 | Self($1) } }

    /// Its bytes, the highest first.
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Its hexadecimal digits, as many as it has room for.
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
