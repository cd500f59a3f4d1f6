internal import EventLoop
package import LineProtocol

/// A conversation with a server as a value: it says what to ask next and takes the answers, in order.
///
/// It does no I/O and does not know how many questions are on their way.
package protocol Exchange {
    /// What it asks.
    associatedtype Question

    /// The next question; nil while it needs an answer first, and at the end.
    mutating func next() -> Question?

    /// The command that asks the question.
    func command(for question: Question) -> [String]

    /// Takes the answer to a question. Throws where it is of no use to ask any further.
    mutating func receive(_ reply: Reply, to question: Question) throws(ConnectionError)
}

extension CommandConnection {
    /// The most commands of an exchange without an answer. Enough to hide the way to the server and to fill its
    /// batches; few enough that neither side buffers much.
    package static var exchangeWindow: Int { 256 }

    /// Asks until there is nothing more to ask, without waiting for each answer.
    ///
    /// - Parameter progress: called after every answer.
    package func run<Conversation: Exchange>(
        _ exchange: inout Conversation, progress: (Conversation) -> Void = { _ in }
    ) async throws(ConnectionError) {
        var asked = Ring<Conversation.Question>()
        while true {
            while asked.count < Self.exchangeWindow, let question = exchange.next() {
                enqueue(exchange.command(for: question))
                asked.append(question)
            }
            guard let question = asked.popFirst() else { return }
            try exchange.receive(try await nextReply(), to: question)
            progress(exchange)
        }
    }
}
