internal import LineProtocol

/// A conversation with the server as a value: it says what to ask next, and is told the answers, in order.
/// It does no I/O and does not know how many questions are on their way.
protocol Exchange {
    associatedtype Question

    /// The next question; nil when there is none before another answer, or at all.
    mutating func next() -> Question?

    /// The command that asks the question.
    func command(for question: Question) -> [String]

    /// Takes the answer to a question. Throws when it is of no use to ask any further.
    mutating func receive(_ reply: Reply, to question: Question) throws(ConnectionError)

    /// How many of the rows are through.
    var finishedCount: Int { get }
}
