internal import Domain
public import EventLog
public import Projections

/// What a running server must answer about everything, according to a replay of the log up to a position. Streams
/// that were written since are left out.
public struct ServerAnswers: Sendable {
    /// A question and its right answer.
    public struct Expected: Sendable {
        /// The command and its arguments.
        public var words: [String]
        /// The streams that the answer comes from.
        public var streams: [StreamName]
        /// The answer that follows from the log.
        public var answer: Answer
    }

    /// An answer.
    public enum Answer: Equatable, Sendable {
        case document([UInt8])
        case count(Int)
        case null
    }

    private let partition: Int
    /// The questions to ask.
    public let questions: [Expected]
    /// The wrong answers, by the numbers of their questions.
    private var different: [Int: String] = [:]

    /// The questions about everything in the read models of a partition.
    public init(_ model: ReadModel) {
        partition = model.partition
        var questions: [Expected] = []
        for record in model.outletHome.shown.sorted(by: { $0.id < $1.id }) {
            questions.append(
                Expected(
                    words: ["OUTLET.HOME", record.id.rawValue],
                    streams: [StreamName(.outlet, record.id), StreamName(.menu, record.id)],
                    answer: .document(HomeDocument.bytes(of: record))))
        }
        for row in model.cartCounts.rows {
            let stream = StreamName(.cart, row.cart)
            guard model.cartCounts.quarantine[stream] == nil else { continue }
            questions.append(
                Expected(words: ["CART.COUNT", row.cart.rawValue], streams: [stream], answer: .count(Int(row.count))))
        }
        self.questions = questions
    }

    /// Takes the answer to a question.
    ///
    /// - Parameter shown: the answer as text.
    public mutating func take(_ answer: Answer?, to number: Int, shown: String) {
        guard answer != questions[number].answer else { return }
        different[number] = shown
    }

    /// Whether an answer was wrong.
    public var hasDifferences: Bool { !different.isEmpty }

    /// The wrong answers, except about streams that were written since the replay ended.
    public func findings(writtenSince streams: Set<StreamName>) -> Findings {
        var findings = Findings()
        for (number, shown) in different.sorted(by: { $0.key < $1.key }) {
            let question = questions[number]
            guard streams.isDisjoint(with: question.streams) else { continue }
            let expected =
                switch question.answer {
                case .count(let count): "\(count)"
                case .document(let bytes): "\(bytes.count) bytes of another document"
                case .null: "null"
                }
            findings.add(
                Finding(
                    .difference, partition: partition, position: nil, subject: question.words.joined(separator: " "),
                    "is answered \(shown), and the log leads to \(expected)"))
        }
        return findings
    }
}
