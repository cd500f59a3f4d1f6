internal import LineClient
internal import LineProtocol

/// Registers outlets or records what differs, and opens the new ones.
struct OutletExchange: ImportExchange {
    /// A question about the row of that number.
    enum Question: Equatable {
        case look(Int)
        case put(Int)
        case open(Int)
    }

    /// What became of the rows.
    struct Outcome: Equatable {
        var created = 0
        var changed = 0
        var unchanged = 0
        var opened = 0
        var problems: [Problem] = []
    }

    private let rows: [OutletRow]
    private let options: OutletImportOptions
    /// How many rows are looked at before the first of them is put. The server lets a question wait for the
    /// changes before it, so that questions and changes in turn would make every change a batch of its own.
    private static let windowRows = 128

    /// The end of the rows that are looked at before the first of them is put.
    private var windowEnd = 0
    private var nextToLook = 0
    /// How many rows the server has answered about.
    private var lookedAt = 0
    private var nextToPut = 0
    private var toOpen: [Int] = []
    /// Rows on their way, as they were before; the rows that failed are not in it.
    private var standings: [Int: OutletStanding] = [:]
    private(set) var outcome = Outcome()
    private(set) var finishedCount = 0

    init(_ rows: [OutletRow], options: OutletImportOptions) {
        self.rows = rows
        self.options = options
    }

    mutating func next() -> Question? {
        if nextToLook < windowEnd {
            nextToLook += 1
            return .look(nextToLook - 1)
        }
        while nextToPut < lookedAt {
            nextToPut += 1
            if standings[nextToPut - 1] != nil { return .put(nextToPut - 1) }
        }
        if let row = toOpen.popLast() { return .open(row) }
        guard nextToPut == windowEnd, windowEnd < rows.count else { return nil }
        windowEnd = min(windowEnd + OutletExchange.windowRows, rows.count)
        return next()
    }

    func command(for question: Question) -> [String] {
        switch question {
        case .look(let row):
            ["OUTLET.GET", rows[row].id]
        case .put(let row):
            put(rows[row], standings[row] ?? .unknown)
        case .open(let row):
            ["OUTLET.OPEN", rows[row].id]
        }
    }

    /// Changes that others make meanwhile are not overwritten.
    private func put(_ row: OutletRow, _ standing: OutletStanding) -> [String] {
        let document = row.document(
            currency: options.currency, timeZone: options.timeZone, mapped: options.map.fields, over: standing.document)
        return ["OUTLET.PUT", row.id, document, "VERSION", String(standing.version)]
    }

    mutating func receive(_ reply: Reply, to question: Question) throws(ConnectionError) {
        if let refusal = ConnectionError(fatal: reply) { throw refusal }
        switch (question, reply) {
        case (.look(let row), _):
            lookedAt = row + 1
            standings[row] = OutletStanding(reply)
            if standings[row] == nil { fail(row, question, reply) }
        case (.put(let row), .integer(let version)):
            guard let standing = standings.removeValue(forKey: row) else { return }
            count(standing, version)
            if standing.isToBeOpened(openingAll: options.opensAll) {
                toOpen.append(row)
            } else {
                finishedCount += 1
            }
        case (.put(let row), .error("CONFLICT", _)) where standings[row] == .unknown:
            standings[row] = nil
            let reason = "the outlet was removed, or somebody else has registered it meanwhile"
            fail(row, question, .error(code: "CONFLICT", message: reason))
        case (.put(let row), _):
            standings[row] = nil
            fail(row, question, reply)
        case (.open, .integer):
            outcome.opened += 1
            finishedCount += 1
        case (.open(let row), _):
            fail(row, question, reply)
        }
    }

    private mutating func count(_ standing: OutletStanding, _ version: Int64) {
        switch standing {
        case .unknown: outcome.created += 1
        case .known(let outlet) where outlet.version == version: outcome.unchanged += 1
        case .known: outcome.changed += 1
        }
    }

    private mutating func fail(_ row: Int, _ question: Question, _ reply: Reply) {
        finishedCount += 1
        let command = command(for: question)[0]
        outcome.problems.append(Problem(row: rows[row].line, refused: command, reply))
    }
}
