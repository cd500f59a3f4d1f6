internal import Audit
internal import EventLog
internal import EventLoop
internal import Foundation

enum VerifyCommand: Subcommand {
    static let name = "verify"
    static let summary = "checks a receipt of LOG.PROVE, without a server or a database"
    static var help: String {
        Options.help(
            name, summary, specs, operands: "<\(operand)>",
            about: """
                The receipt is a file, or - for standard input: redis-cli LOG.PROVE cart-cart-1 3 | tiffin verify -
                Exit codes: 0 proven, 1 not proven, 3 something cannot be read, 64 wrong options.
                """)
    }

    private static let operand = "receipt"
    private static let specs = [
        Options.Spec(name: "head", value: "digest", help: "a digest of the log's chain that you know from elsewhere"),
        Options.Spec(
            name: "anchor", value: "file", help: "anchors that you have of the log: those on the way must hold"),
    ]

    /// The largest receipt that is read, in bytes.
    private static let maximumLength = 64 << 20

    private struct Unreadable: Error {
        var reason: String
    }

    static func run(_ arguments: [String]) async -> Int32 {
        do {
            let options = try Options(arguments, specs, operand: operand)
            if options.wantsHelp {
                Terminal.print(help)
                return ExitCode.success.rawValue
            }
            let verdict = try verdict(options)
            Terminal.print(verdict.text)
            return (verdict.isProven ? ExitCode.success : .failure).rawValue
        } catch let error as Options.UsageError {
            Terminal.printError("tiffin \(name): \(error.message); 'tiffin \(name) --help' tells more")
            return ExitCode.usage.rawValue
        } catch let error as Unreadable {
            Terminal.printError("tiffin \(name): \(error.reason)")
        } catch {
            Terminal.printError("tiffin \(name): \(error)")
        }
        return ExitCode.unreadable.rawValue
    }

    private static func verdict(_ options: Options) throws -> ReceiptVerdict {
        guard let path = options.operand else { throw Options.UsageError(message: "which receipt?") }
        let head = try options["head"].map { text throws(Options.UsageError) in
            guard let digest = Digest(hexadecimal: text.lowercased()) else {
                throw Options.UsageError(message: "--head must be 64 hexadecimal digits, not '\(text)'")
            }
            return digest
        }
        let anchors = try options["anchor"].map { try AnchorFile($0).read() }
        let text = try contents(of: path)
        do {
            return ReceiptVerdict(of: try Receipt(json: text), head: head, anchors: anchors)
        } catch {
            throw Unreadable(reason: "\(path == "-" ? "standard input" : path) is no receipt: \(error)")
        }
    }

    private static func contents(of path: String) throws(Unreadable) -> [UInt8] {
        do {
            let file =
                path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            var bytes: [UInt8] = []
            while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
                bytes += chunk
                guard bytes.count <= maximumLength else {
                    throw Unreadable(reason: "\(path) is larger than \(maximumLength >> 20) MiB")
                }
            }
            return bytes
        } catch let error as Unreadable {
            throw error
        } catch {
            throw Unreadable(reason: "\(path) cannot be read: \(error.localizedDescription)")
        }
    }
}
