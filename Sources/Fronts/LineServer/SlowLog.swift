internal import Application
internal import TextFormats

/// The latest commands that held up the server for long: what `SLOWLOG` shows.
struct SlowLog {
    /// One of them.
    struct Entry {
        var id: Int64
        /// When it had been executed, in seconds since 1970.
        var time: Int64
        var microseconds: Int64
        /// Its name and arguments, shortened.
        var words: [[UInt8]]
        var address: String
        /// The name that the client had given itself.
        var client: String
    }

    /// The most words of a command that are kept, and the most bytes of each, as in Redis.
    private static let (maximumWords, maximumBytes) = (32, 128)

    private let maximumCount: Int
    /// The latest last.
    private(set) var entries: [Entry] = []
    private var nextID: Int64 = 0

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds a command, in the place of the oldest if there is no room.
    mutating func add(
        _ command: CommandDeclaration, _ arguments: Arguments, microseconds: Int64, time: Int64, address: String,
        client: String
    ) {
        guard maximumCount > 0 else { return }
        if entries.count >= maximumCount { entries.removeFirst(entries.count - maximumCount + 1) }
        entries.append(
            Entry(
                id: nextID, time: time, microseconds: microseconds, words: SlowLog.words(of: command, arguments),
                address: address, client: client))
        nextID += 1
    }

    /// Removes all of them.
    mutating func removeAll() { entries.removeAll() }

    /// The words as they are kept. Customers' texts are left out.
    private static func words(of command: CommandDeclaration, _ arguments: Arguments) -> [[UInt8]] {
        let texts = command.parameterDescriptions.filter { $0.name == "text" }.compactMap { $0.token }
        let shown = arguments.count > maximumWords ? maximumWords - 1 : arguments.count
        var words = (0..<shown).map { index -> [UInt8] in
            let bytes = arguments[index].bytes
            if index > 0, texts.contains(where: { arguments[index - 1].uppercased.elementsEqual($0.utf8) }) {
                return Array("(redacted)".utf8)
            }
            guard bytes.count > maximumBytes else { return Array(bytes) }
            return Array(bytes.prefix(maximumBytes)) + Array("... (\(bytes.count - maximumBytes) more bytes)".utf8)
        }
        if shown < arguments.count { words.append(Array("... (\(arguments.count - shown) more arguments)".utf8)) }
        return words
    }
}
