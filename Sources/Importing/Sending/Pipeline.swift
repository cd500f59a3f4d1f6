internal import LineProtocol

/// Something that commands are sent to and that answers them in order.
protocol CommandConnection: AnyObject {
    /// Puts a command on its way, without waiting.
    func enqueue(_ command: [String])

    /// The answer to the oldest command that is unanswered.
    func nextReply() throws(ConnectionError) -> Reply
}

/// Sends the commands of an exchange without waiting for each answer.
enum Pipeline {
    /// The most commands without an answer. Enough to hide the way to the server and to fill its batches;
    /// few enough that neither side buffers much.
    static let maximumInFlight = 256

    /// Asks until there is nothing more to ask. `progress` is told how many rows are through.
    static func run<Conversation: Exchange>(
        _ exchange: inout Conversation, over connection: some CommandConnection, progress: (Int) -> Void
    ) throws(ConnectionError) {
        var asked: [Conversation.Question] = []
        while true {
            while asked.count < maximumInFlight, let question = exchange.next() {
                connection.enqueue(exchange.command(for: question))
                asked.append(question)
            }
            guard !asked.isEmpty else { return }
            let reply = try connection.nextReply()
            try exchange.receive(reply, to: asked.removeFirst())
            progress(exchange.finishedCount)
        }
    }
}
