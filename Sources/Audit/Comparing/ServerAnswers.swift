internal import Domain
public import EventLog
public import Projections

/// What a live server has to answer to somebody who knows the log up to a position: asked of everything, and held
/// against a replay, but for what has changed since.
public struct ServerAnswers: Sendable {
    /// A question, and what it has to be answered with.
    public struct Expected: Sendable {
        /// The command and its arguments.
        public var words: [String]
        /// The stream or streams that the answer is made of.
        public var streams: [StreamName]
        /// What follows from the log.
        public var answer: Answer
    }

    /// What can be answered.
    public enum Answer: Equatable, Sendable {
        case document([UInt8])
        case count(Int)
        case null
    }

    private let partition: Int
    /// What has to be asked.
    public let questions: [Expected]
    /// What was answered otherwise, by its number.
    private var different: [Int: String] = [:]

    /// Everything that the read models of a partition answer.
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

    /// A question was answered.
    ///
    /// - Parameter shown: the answer for a person, where it is of no expected kind.
    public mutating func take(_ answer: Answer?, to number: Int, shown: String) {
        guard answer != questions[number].answer else { return }
        different[number] = shown
    }

    /// Whether something was answered otherwise.
    public var hasDifferences: Bool { !different.isEmpty }

    /// What differs, but for what has been written since the replay ended.
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
                    "is answered \(shown), and the log makes \(expected) of it"))
        }
        return findings
    }
}
