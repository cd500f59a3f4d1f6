/// A document that is kept up to date from the messages of one channel alone, and compared with the document when it
/// is read whole.
package struct Follower {
    /// Reads that wait for the message that leads to them.
    private static let awaitedReads = 8
    /// How many steps of the history are kept.
    private static let keptSteps = 20

    /// What a message says.
    struct Message {
        var from: Int64
        var to: Int64
        var patch: [JSON]

        /// The document, if the message has all of it.
        var whole: JSON? {
            guard patch.count == 1, let name = patch[0]["op"]?.text, name == "replace" || name == "add",
                patch[0]["path"]?.text == ""
            else { return nil }
            return patch[0]["value"]
        }
    }

    /// What a message says about the problem of a cart's line.
    struct Problem {
        var line: JSON
        /// The problem, or the one member of it that `member` names.
        var value: JSON
        var member: Text?
    }

    let channel: String
    /// The document after the last message; nil while that is not known.
    private(set) var document: JSON?
    /// Whether the document was read whole rather than sent.
    private var isAdopted = false
    /// The revision of the last message; nil before the first.
    package private(set) var lastRevision: Int64?
    private var awaited: [(revision: Int64, document: JSON)] = []
    /// What the last message says about problems of a cart's lines.
    private(set) var problems: [Problem] = []
    /// What has come since the document was last confirmed, one line for each step.
    private(set) var history: [String] = []

    package init(_ channel: String) {
        self.channel = channel
    }

    /// Takes a message as it was received.
    package mutating func heard(_ bytes: [UInt8]) throws(Violation) {
        guard let text = JSON(bytes) else { throw Violation(.messages, "a message of \(channel) is not JSON") }
        _ = try heard(text)
    }

    /// Takes a document as it was received.
    package mutating func read(_ bytes: [UInt8]) throws(Violation) {
        let document = JSON(bytes)
        guard let document, let revision = document[isCart || isOrder ? "version" : "revision"]?.integer else {
            throw Violation(.messages, "\(channel) was read, and has no revision")
        }
        _ = try read(document, revision: revision)
    }

    /// Whether the first message has come.
    package var hasBegun: Bool { lastRevision != nil }

    /// For documents without a revision: how the document built from messages differs from one that was read whole; nil
    /// if they are equal, or nothing was heard yet.
    package func difference(from bytes: [UInt8]) -> String? {
        guard let document, let whole = JSON(bytes) else { return nil }
        return JSON.difference(document, whole)
    }

    /// The highest revision that was read, if no message has led there yet.
    package var behind: Int64? {
        guard let lastRevision, let read = awaited.map(\.revision).max(), read > lastRevision else { return nil }
        return read
    }

    private var isCart: Bool { channel.utf8.starts(with: "cart:".utf8) }
    private var isOrder: Bool { channel.utf8.starts(with: "order:".utf8) }
    private var isBrowse: Bool { channel.utf8.starts(with: "browse:".utf8) }

    private mutating func note(_ step: String) {
        if history.count == Follower.keptSteps { history.removeFirst() }
        history.append(step)
    }

    /// Takes a message, shown as `summary`. Returns whether documents were compared.
    mutating func heard(
        _ text: JSON, _ summary: String = ""
    ) throws(Violation) -> (message: Message, hasCompared: Bool) {
        problems = []
        note("message \(channel) → \(summary)")
        guard let from = text["from"]?.integer, let to = text["to"]?.integer, let patch = text["patch"]?.array else {
            throw Violation(.messages, "a message of \(channel) is not a change: \(text.summary)")
        }
        let message = Message(from: from, to: to, patch: patch)
        if let lastRevision, from != lastRevision {
            throw Violation(
                .messages, "\(channel) went from \(from) to \(to), but its last message led to \(lastRevision)")
        }
        // A saved query may be dropped: then there is no document any more.
        if isBrowse, to == 0, lastRevision != nil {
            (document, lastRevision, awaited) = (nil, 0, [])
            return (message, false)
        }
        guard to >= from, lastRevision != nil || from == to else {
            throw Violation(.messages, "the first message of \(channel) is a change from \(from) to \(to)")
        }
        lastRevision = to
        if let whole = message.whole {
            (document, isAdopted) = (whole, false)
            note(patch[0], whole)
        } else if var changing = document {
            for operation in patch {
                note(operation, changing)
                // The cart that was read may have had newer problems than the messages so far.
                if isAdopted, isCart, Follower.problem(of: operation) != nil { continue }
                do throws(PatchFailure) {
                    try changing.apply(operation)
                } catch {
                    throw Violation(
                        .patch, "the patch of \(channel) from \(from) to \(to) cannot be applied: \(error)")
                }
            }
            document = changing
        }
        return (message, try settleReads())
    }

    /// The document was read whole, on the connection that the messages come on. Returns whether it could be
    /// compared.
    mutating func read(_ whole: JSON, revision read: Int64) throws(Violation) -> Bool {
        guard let lastRevision else { return false }
        note("\(channel) was read at \(read)")
        guard read >= lastRevision else {
            throw Violation(.messages, "\(channel) was read at \(read), after a message had led to \(lastRevision)")
        }
        awaited.append((read, whole))
        if awaited.count > Follower.awaitedReads { awaited.removeFirst() }
        return try settleReads()
    }

    // MARK: Problems of carts

    /// The line whose problem an operation is about, and which member of it; nil if it is about something else.
    static func problem(of operation: JSON) -> (line: Int, member: Text?)? {
        guard let path = operation["path"]?.string, let tokens = try? JSON.tokens(path), tokens.count >= 3,
            tokens[0] == "lines", tokens[2] == "problem", let line = Int(tokens[1].string)
        else { return nil }
        return (line, tokens.count > 3 ? tokens[3] : nil)
    }

    private mutating func note(_ operation: JSON, _ document: JSON) {
        guard isCart, let value = operation["value"] else { return }
        if let (index, member) = Follower.problem(of: operation) {
            guard let lines = document["lines"]?.array, lines.indices.contains(index) else { return }
            problems.append(Problem(line: lines[index], value: value, member: member))
        } else {
            // A line, some lines, or a whole cart.
            for line in value["lines"]?.array ?? value.array ?? [value] {
                guard let problem = line["problem"] else { continue }
                problems.append(Problem(line: line, value: problem, member: nil))
            }
        }
    }

    private mutating func settleReads() throws(Violation) -> Bool {
        guard let lastRevision else { return false }
        var hasCompared = false
        for read in awaited where read.revision == lastRevision {
            guard let document else {
                (self.document, isAdopted) = (read.document, true)
                continue
            }
            hasCompared = true
            // A cart's problems change without a change of its version.
            let (ours, theirs) =
                isCart ? (document.withoutProblems, read.document.withoutProblems) : (document, read.document)
            if let difference = JSON.difference(ours, theirs) {
                throw Violation(
                    .patch, "\(channel) at \(lastRevision), made from messages and read whole, differs: \(difference)")
            }
        }
        awaited.removeAll { $0.revision <= lastRevision }
        if hasCompared { history.removeAll() }
        return hasCompared
    }
}

extension JSON {
    /// A cart without the `problem`s of its lines.
    var withoutProblems: JSON {
        guard case .object(var members) = self, case .array(let lines)? = members["lines"] else { return self }
        members["lines"] = .array(
            lines.map { line in
                guard case .object(var fields) = line else { return line }
                fields["problem"] = nil
                return .object(fields)
            })
        return .object(members)
    }
}
