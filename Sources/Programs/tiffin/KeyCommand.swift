internal import CommandLineOptions
internal import EventLog
internal import EventLoop

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What programs that sign have in common.
enum NoteKeys {
    /// The largest key file that is read, in bytes.
    private static let maximumLength = 64 << 10

    static let name = Option.optional(
        "name", "name", "the name of the log, or of the witness, such as example.com/orders", .text)

    /// A name of an option; it has to be given.
    static func name(_ options: Options) throws(UsageError) -> String {
        guard let name = options[name] else { throw UsageError("--name is needed") }
        return name
    }

    /// The key of a file, under a name.
    static func signer(_ path: String, name: String, kind: NoteKeyKind) throws -> NoteSigner {
        guard let key = SigningKey(pem: try NamedFile.contents(of: path, atMost: maximumLength)) else {
            throw UsageError("\(path) has no Ed25519 key in PEM without a password; 'tiffin key \(path)' makes one")
        }
        guard let signer = NoteSigner(name: name, kind: kind, key: key) else {
            throw UsageError("--name must be without spaces and plus signs")
        }
        return signer
    }

    /// An option for public keys, which may be repeated.
    static func option(_ name: String, _ purpose: String, _ kind: NoteKeyKind) -> Option<[NoteVerifier]> {
        Option(OptionDeclaration(name, "key", "\(purpose); may be repeated", isRepeatable: true)) {
            texts throws(UsageError) in
            try texts.map { text throws(UsageError) in
                guard let key = NoteVerifier(text), key.kind == kind else {
                    let whose = kind == .signer ? "a log" : "a witness"
                    throw UsageError("--\(name) must be the key of \(whose), as tiffin key prints it")
                }
                return key
            }
        }
    }
}

enum KeyCommand: Subcommand {
    static let name = "key"
    static let summary = "makes a key that signs a log's heads, and prints its public half"
    static let operands = ["<file>"]
    static let options: [any DeclaredOption] = [NoteKeys.name, witness]

    static let about: String? = """
        The key is made if there is no such file; it is Ed25519 in PEM, for its owner's eyes only. What is printed is what
        others verify signatures with: tiffin verify --log, tiffin witness --log, tiffin sign --witness.
        """

    private static let witness = Option.flag("witness", "the key is a witness's, and not a log's")

    static func run(_ options: Options) async throws -> ExitCode {
        guard let path = options.operands.first else { throw UsageError("which file?") }
        let name = try NoteKeys.name(options)
        if access(path, F_OK) != 0, errno == ENOENT { try make(path) }
        let signer = try NoteKeys.signer(path, name: name, kind: options[witness] ? .cosigner : .signer)
        Terminal.print("\(signer.verifier)")
        return .success
    }

    private static func make(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw UsageError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let pem = SigningKey.random().pem
        guard write(file, pem, pem.count) == pem.count, fsync(file) == 0 else {
            throw UsageError("\(path): \(String(cString: strerror(errno)))")
        }
    }
}
