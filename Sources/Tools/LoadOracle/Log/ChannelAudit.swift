/// Compares the messages of one channel with its documents, which follow from the log: each message has to lead from
/// the document of its `from` to that of its `to`.
struct ChannelAudit {
    let channel: String
    private var messages: [Int64: [MessageStore.Message]]
    /// How many messages begin at a revision.
    private var starts: [Int64: Int] = [:]
    private var documents: [Int64: JSON] = [:]
    /// How many messages were compared.
    private(set) var compared = 0

    init(_ channel: String, _ messages: [Int64: [MessageStore.Message]]) {
        self.channel = channel
        self.messages = messages
        for message in messages.values.joined() { starts[message.from, default: 0] += 1 }
    }

    /// Whether somebody was sent the document of this revision, or a change from it.
    func needs(_ revision: Int64) -> Bool { starts[revision] != nil || messages[revision] != nil }

    /// The log leads to this document at a revision. Returns what is wrong with the messages that lead there.
    mutating func reached(_ revision: Int64, _ document: JSON) -> (violation: Violation, text: [UInt8])? {
        if starts[revision] != nil { documents[revision] = document }
        var found: (violation: Violation, text: [UInt8])?
        for message in messages.removeValue(forKey: revision) ?? [] {
            compared += 1
            if let problem = problem(of: message, document, revision), found == nil {
                found = (Violation(.messages, problem), message.text)
            }
            starts[message.from, default: 1] -= 1
            if starts[message.from] == 0 { (starts[message.from], documents[message.from]) = (nil, nil) }
        }
        return found
    }

    private func problem(
        of message: MessageStore.Message, _ document: JSON, _ revision: Int64
    ) -> String? {
        func wrong(_ what: String) -> String {
            "a message of \(channel) from \(message.from) to \(revision) \(what)"
        }
        guard let start = documents[message.from] else { return wrong("begins at a revision that is not in the log") }
        // The problems of a cart's lines do not follow from its events: they are judged when the message comes.
        let operations = message.patch.filter { Follower.problem(of: $0) == nil }
        let end: JSON
        do throws(PatchFailure) {
            end = try start.patched(by: operations)
        } catch {
            return wrong("cannot be applied to what follows from the log there: \(error)")
        }
        return JSON.difference(end.withoutProblems, document.withoutProblems).map {
            wrong("does not lead to what follows from the log: \($0)")
        }
    }

    /// The log has been read. Returns what is wrong with messages that lead to revisions that it does not have.
    func finish() -> (violation: Violation, text: [UInt8])? {
        guard let (revision, left) = messages.min(by: { $0.key < $1.key }), let message = left.first else { return nil }
        return (
            Violation(.messages, "a message of \(channel) leads to \(revision), which the log does not have"),
            message.text
        )
    }
}
