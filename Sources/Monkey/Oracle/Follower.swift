/// A document that is kept up to date from the messages of one channel, and compared with what is read whole.
struct Follower {
    /// Documents that were read before the message that leads to them has come.
    private static let awaitedReads = 8
    /// Steps of the history that are kept.
    private static let keptSteps = 20

    let channel: String
    private var document: JSON?
    private var revision: Int64 = 0
    /// Where the last message led to; nil before the first.
    private var told: Int64?
    private var awaited: [(revision: Int64, document: JSON)] = []
    /// What has come since the document was last found right, a line a step.
    private(set) var history: [String] = []

    init(_ channel: String) {
        self.channel = channel
    }

    /// Whether the first message has come.
    var hasBegun: Bool { told != nil }

    /// The highest revision that was read and has not been told of.
    var behind: Int64? {
        let read = awaited.reduce(revision) { max($0, $1.revision) }
        return told.flatMap { read > $0 ? read : nil }
    }

    private mutating func note(_ step: String) {
        if history.count == Follower.keptSteps { history.removeFirst() }
        history.append(step)
    }

    /// A message has come, which is told as `summary`. Returns whether documents were compared.
    mutating func heard(_ message: JSON, _ summary: String = "") throws(Violation) -> Bool {
        note("message \(channel) → \(summary)")
        guard let from = message["from"]?.integer, let to = message["to"]?.integer,
            let patch = message["patch"]?.array
        else { throw Violation(.messages, "\(channel) sent what is no change: \(message.text)") }
        if let told, from != told {
            throw Violation(.messages, "\(channel) went from \(from) to \(to), and had told \(told) before")
        }
        // A saved question may be dropped; then there is none any more.
        if channel.hasPrefix("browse:"), to == 0, told != nil {
            (document, revision, told, awaited) = (nil, 0, 0, [])
            return false
        }
        guard to >= from, told != nil || from == to else {
            throw Violation(.messages, "\(channel) began with a change from \(from) to \(to)")
        }
        told = to
        if patch.count == 1, patch[0]["op"]?.string == "replace" || patch[0]["op"]?.string == "add",
            patch[0]["path"]?.string == "", let whole = patch[0]["value"], to >= revision
        {
            document = whole
            revision = to
        } else if to > revision, let old = document {
            // Read in the middle of what was sent together: it has to be read again.
            guard from == revision else {
                document = nil
                return false
            }
            do throws(PatchFailure) {
                document = try old.patched(by: patch)
            } catch {
                throw Violation(.patch, "the patch of \(channel) from \(from) to \(to) cannot be applied: \(error)")
            }
            revision = to
        }
        return try settleReads()
    }

    /// The document was read whole, on the connection that the messages come on. Returns whether it could be
    /// compared.
    mutating func read(_ whole: JSON, revision read: Int64) throws(Violation) -> Bool {
        guard let told else { return false }
        note("\(channel) was read at \(read)")
        guard read >= told else {
            throw Violation(.messages, "\(channel) told of \(told), and was then read at \(read)")
        }
        guard document != nil, read >= revision else {
            document = whole
            revision = read
            return false
        }
        awaited.append((read, whole))
        if awaited.count > Follower.awaitedReads { awaited.removeFirst() }
        return try settleReads()
    }

    private mutating func settleReads() throws(Violation) -> Bool {
        var compared = false
        for read in awaited where read.revision == revision {
            guard let document else { continue }
            compared = true
            // What has become of a cart's items since is told with its version unchanged.
            let (ours, theirs) =
                channel.hasPrefix("cart:")
                ? (document.withoutProblems, read.document.withoutProblems) : (document, read.document)
            if let difference = JSON.difference(ours, theirs) {
                throw Violation(
                    .patch,
                    "\(channel) at \(revision), made by its messages and read whole, differs: \(difference)")
            }
        }
        awaited.removeAll { $0.revision <= revision }
        if compared { history.removeAll() }
        return compared
    }
}

extension JSON {
    /// A cart without the `problem`s of its lines.
    fileprivate var withoutProblems: JSON {
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
