import CommandHandling
import Domain
import EventLog
import EventLoop
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct ArchiveTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func answers(
        to question: PastQuestion, for callers: [Caller], in archive: Archive
    ) async -> [Archive.Answer] {
        await withCheckedContinuation { continuation in
            var answers: [Archive.Answer] = []
            for caller in callers {
                archive.answer(question, for: caller) { answer in
                    answers.append(answer)
                    if answers.count == callers.count { continuation.resume(returning: answers) }
                }
            }
        }
    }

    private static func text(_ answer: Archive.Answer) -> String? {
        guard case .success(let document) = answer else { return nil }
        return document.map { String(decoding: $0.bytes(.none), as: UTF8.self) } ?? "null"
    }

    @Test @LoopActor func `those who ask for the same share one fold`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            await rooms.add(1, to: "c", at: "o")
            await rooms.add(1, to: "c", at: "o")
            let question = PastQuestion.cart("c", at: .position(5))
            let before = log.calls.count
            let one = await Self.answers(to: question, for: [.server], in: rooms.archive)
            let reads = log.calls.count - before
            #expect(reads > 0 && Self.text(one[0])?.contains(#""count":1"#) ?? false)
            let callers = (0..<8).map { Caller(user: "\($0 % 3)") }
            let all = await Self.answers(to: question, for: callers, in: rooms.archive)
            #expect(all.allSatisfy { Self.text($0) == Self.text(one[0]) })
            #expect(log.calls.count - before == 2 * reads)
        }
    }

    @Test @LoopActor func `an answer is what was true then`() async throws {
        try await Rooms.with { rooms in
            let question = PastQuestion.cart("c", at: .position(4))
            await rooms.open("o")
            await rooms.add(1, to: "c", at: "o")
            let before = await Self.answers(to: question, for: [.server], in: rooms.archive)
            #expect(Self.text(before[0]) == "null")
            for revision in 1...5 as ClosedRange<Int64> {
                let home = await Self.answers(
                    to: .revision(revision, of: "o"), for: [.server], in: rooms.archive)
                // The last event is the cart's.
                #expect((Self.text(home[0]) == "null") == (revision == 5))
            }
            let future = await Self.answers(to: .cart("c", at: .position(6)), for: [.server], in: rooms.archive)
            guard case .failure(let failure) = future[0] else {
                Issue.record("the future is known")
                return
            }
            #expect(failure.message == "AT: partition 0 of the log ends at position 5")
        }
    }

    @Test @LoopActor func `a stream is folded up to a version, unless that is too many events`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            for _ in 0..<3 { await rooms.add(1, to: "c", at: "o") }
            for version in [1, 3, 4, Int64(Archive.maximumEvents) + 1, 0] {
                let result = await withCheckedContinuation { continuation in
                    rooms.archive.state(of: .cart("c"), at: version, for: .server) {
                        continuation.resume(returning: $0)
                    }
                }
                let state = try result.get()
                #expect(state?.version == ((1...3).contains(version) ? version : nil))
            }
        }
    }

    @Test @LoopActor func `a log that is away is said to be, and the next question is answered`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            log.failures[.load] = [.unavailable("away")]
            let question = PastQuestion.home(of: "o", cart: nil, at: .position(3))
            let failed = await Self.answers(to: question, for: [.server, .server], in: rooms.archive)
            for answer in failed {
                let failure = #expect(throws: Failure.self) { _ = try answer.get() }
                #expect(failure?.code == .unavailable)
            }
            let answered = await Self.answers(to: question, for: [.server], in: rooms.archive)
            #expect(Self.text(answered[0]) != nil)
        }
    }

    @Test @LoopActor func `who asks for too much is refused, and the others are answered`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            log.held = [.load]
            var (answered, refused) = (0, 0)
            let limits = rooms.queue.limits
            for number in 0..<limits.atOnceOfCaller + limits.waitingOfCaller + 3 {
                let outlet = Identifier("outlet-\(number)")!
                rooms.archive.answer(.home(of: outlet, cart: nil, at: .position(3)), for: Caller(user: "a")) { answer in
                    if case .failure(let failure) = answer, failure.code == .busy {
                        refused += 1
                    } else {
                        answered += 1
                    }
                }
            }
            #expect(refused == 3 && answered == 0)
            rooms.archive.answer(.home(of: "o", cart: nil, at: .position(3)), for: Caller(user: "b")) { _ in
                answered += 1
            }
            log.release()
            await turns { answered == limits.atOnceOfCaller + limits.waitingOfCaller + 1 }
            #expect(refused == 3)
        }
    }
}
