import SeededRandom
import Testing

@testable import Serving

@Suite struct OpenQuestionsTests {
    private static let interval: UInt64 = 200_000_000

    @Test(arguments: SeededGenerator.seeds)
    func `a question is answered or given up once, and only by a loop that was not held up`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var questions = OpenQuestions(lookingEvery: Self.interval)
        var open: [Int: (kind: OpenQuestions.Kind, since: UInt64)] = [:]
        var closed: [Int] = []
        var (now, lookedAt) = (UInt64(0), UInt64(0))
        for number in 0..<500 {
            now += UInt64(random.below(100_000_000))
            switch random.below(5) {
            case 0, 1:
                let kind = random.pick([OpenQuestions.Kind.append(number), .lookUp, .read, .news])
                let question = questions.ask(kind, at: now)
                #expect(open.updateValue((kind, now), forKey: question) == nil && !closed.contains(question))
            case 2:
                guard let question = open.keys.sorted().first else { continue }
                open[question] = nil
                closed.append(question)
                let isTaken = questions.isAnswered(question)
                #expect(isTaken)
            case 3:
                // An answer that is late.
                guard !closed.isEmpty else { continue }
                let isTaken = questions.isAnswered(random.pick(closed))
                #expect(!isTaken)
            default:
                now += random.chance(20) ? UInt64(random.below(1_000_000_000)) : 0
                let (isOverdue, hasBatch) = (random.chance(30), random.chance(50))
                let isHeldUp = now - lookedAt >= 2 * Self.interval
                let given = open.filter { _, question in
                    guard !isHeldUp else { return false }
                    if question.kind == .news { return hasBatch && now - question.since > 1_000_000_000 }
                    return isOverdue
                }
                let kinds = questions.giveUp(at: now, isOverdue: isOverdue, hasBatch: hasBatch)
                #expect(kinds == given.keys.sorted().map { given[$0]!.kind })
                for question in given.keys {
                    open[question] = nil
                    closed.append(question)
                }
                lookedAt = now
            }
        }
        #expect(closed.count > 20)
    }
}
