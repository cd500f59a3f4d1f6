/// What a partition has asked of the log, and has no answer to. Times are nanoseconds of the loop's clock.
struct OpenQuestions {
    /// How long a batch waits for what others wrote to be read before it is sent all the same.
    static let patienceForNews: UInt64 = 1_000_000_000

    enum Kind: Equatable {
        case append(Int), lookUp, read
        /// What others wrote, while nothing of ours is on its way.
        case news
    }

    private struct Question {
        let number: Int
        let kind: Kind
        let since: UInt64
    }

    private var questions: [Question] = []
    private var lastNumber = 0
    /// How often it is looked for what has waited for too long.
    private let interval: UInt64
    private var lookedAt: UInt64 = 0

    init(lookingEvery interval: UInt64) {
        self.interval = interval
    }

    /// Something is asked. Returns the question's number.
    mutating func ask(_ kind: Kind, at now: UInt64) -> Int {
        lastNumber += 1
        questions.append(Question(number: lastNumber, kind: kind, since: now))
        return lastNumber
    }

    /// Takes note of an answer. Returns false if the question was given up.
    mutating func isAnswered(_ number: Int) -> Bool {
        guard let index = questions.firstIndex(where: { $0.number == number }) else { return false }
        questions.remove(at: index)
        return true
    }

    /// Gives up what commands have waited for long enough, and returns it. An answer that comes later is not looked at.
    ///
    /// - Parameters:
    ///   - isOverdue: whether the commands of the oldest batch have waited long enough.
    ///   - hasBatch: whether there is something to be sent.
    mutating func giveUp(at now: UInt64, isOverdue: Bool, hasBatch: Bool) -> [Kind] {
        defer { lookedAt = now }
        // If the loop was held up, answers may have come that it has not read.
        guard now - lookedAt < 2 * interval else { return [] }
        let isOver = { (question: Question) in
            guard case .news = question.kind else { return isOverdue }
            return hasBatch && now - question.since > OpenQuestions.patienceForNews
        }
        let given = questions.filter(isOver)
        if !given.isEmpty { questions.removeAll(where: isOver) }
        return given.map(\.kind)
    }
}
