import Application
import CallArguments
import EventLog
import LineProtocol
import SeededRandom
import Testing

@testable import LineServer

/// Every interleaving that a seed leads to: requests cut anywhere, replies promised and given in any order, clients that
/// read slowly, end, or send rubbish, and servers that stop.
@Suite struct SessionMachineTests {
    @Test(arguments: 0..<400 as Range<UInt64>)
    func `requests run once and in order, and replies leave in that order`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .peerEnds)
        simulation.run()
        simulation.expect(simulation.answered == simulation.requests.count, "every request is answered")
        simulation.expect(simulation.closings == 1, "the connection closes once, behind the last answer")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `bytes that are no request are rejected behind the answers to what came before them`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .malformed)
        simulation.run()
        simulation.expect(simulation.answered == simulation.requests.count, "every request is answered")
        simulation.expect(simulation.isRejected, "the error is the last reply")
        simulation.expect(simulation.closings == 1, "the connection closes once")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a server that stops executes nothing more, and answers what is on its way`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .serverStops)
        simulation.run()
        simulation.expect(simulation.answered == simulation.executed, "what was executed is answered")
        simulation.expect(simulation.closings == 1, "the connection closes once")
    }

    @Test func `a client is overdue in the middle of a request, or when it has been silent`() {
        let second: UInt64 = 1_000_000_000
        var machine = SessionMachine(limits: LineConfiguration(), at: 0)
        #expect(machine.overdue(at: 300 * second, isListening: false) == nil)
        #expect(machine.overdue(at: 301 * second, isListening: true) == nil)
        #expect(machine.overdue(at: 301 * second, isListening: false)?.contains("idle") ?? false)
        for moment in [1, 20] as [UInt64] {
            let bytes = Array(moment == 1 ? "*1\r\n$4\r\nPI".utf8 : "N".utf8)
            bytes.withUnsafeBytes { bytes in
                machine.received(bytes, at: moment * second)
                if case .wait = machine.next(pendingBytes: 0) { return }
                Issue.record("half a request is none")
            }
        }
        #expect(machine.overdue(at: 31 * second, isListening: true) == nil)
        #expect(machine.overdue(at: 32 * second, isListening: true)?.contains("arrive") ?? false)
    }
}

/// A session machine between a client that sends requests and commands that answer them, all of them of chance.
private struct Simulation {
    enum Ending { case peerEnds, malformed, serverStops }

    struct Request {
        var kind: Kind
        var bytes: [UInt8]

        enum Kind: CaseIterable {
            case read, bigRead, outlet, menu, cart, heldCart

            var effect: CommandDeclaration.Effect {
                switch self {
                case .read, .bigRead: .read
                case .outlet: .write(.outlet)
                case .menu: .write(.menu)
                case .cart, .heldCart: .write(.cart)
                }
            }

            var category: StreamName.Category? {
                if case .write(let category) = effect { category } else { nil }
            }
        }
    }

    private struct Promised {
        var turn: Int
        var request: Int
        var category: StreamName.Category
        var isHolding: Bool
    }

    private static let limits = {
        var limits = LineConfiguration()
        limits.inputPause = 200
        limits.outputPause = 300
        limits.maximumPendingReplies = 5
        return limits
    }()

    private let seed: UInt64
    private let ending: Ending
    private var random: SeededGenerator
    private var machine = MachineBox()
    private(set) var requests: [Request] = []
    private var sent: [UInt8] = []
    private var delivered = 0
    private var pendingBytes = 0
    private var isReading = true
    private var isStopped = false
    private var hasEnded = false
    private var promised: [Promised] = []
    private var output: [UInt8] = []
    private(set) var executed = 0
    private(set) var closings = 0
    private var executedBytes = 0

    /// Holds a value that cannot be copied.
    private final class MachineBox {
        var machine = SessionMachine(limits: Simulation.limits, at: 0)
    }

    init(seed: UInt64, ending: Ending) {
        self.seed = seed
        self.ending = ending
        random = SeededGenerator(seed: seed)
        for index in 0..<random.number(1...40) {
            let kind = random.pick(Request.Kind.allCases)
            let padding = String(repeating: "x", count: random.below(random.chance(10) ? 400 : 20))
            let bytes = Array("*2\r\n$\(String(index).count)\r\n\(index)\r\n$\(padding.count)\r\n\(padding)\r\n".utf8)
            requests.append(Request(kind: kind, bytes: bytes))
        }
        sent = requests.flatMap(\.bytes) + (ending == .malformed ? Array("*x\r\n".utf8) : [])
    }

    func expect(_ isTrue: Bool, _ what: Comment) { #expect(isTrue, "seed \(seed): \(what)") }

    // MARK: Running

    mutating func run() {
        for _ in 0..<10_000 where closings == 0 {
            switch random.below(10) {
            case 0...3: deliver()
            case 4...5: keepPromise()
            case 6...7: clientReads()
            case 8 where ending == .serverStops && random.chance(5): stop()
            default: if isStopped && promised.isEmpty { close() }
            }
        }
    }

    private mutating func deliver() {
        guard isReading, !isStopped else { return }
        guard delivered < sent.count else {
            guard !hasEnded, ending != .serverStops else { return ending == .serverStops ? stop() : () }
            hasEnded = true
            machine.machine.peerEnded()
            return work()
        }
        let chunk = Array(sent[delivered..<min(sent.count, delivered + random.number(1...random.pick([3, 50, 500])))])
        delivered += chunk.count
        chunk.withUnsafeBytes { bytes in
            machine.machine.received(bytes, at: 1)
            work()
        }
        expect(
            !isReading || delivered - executedBytes < Simulation.limits.inputPause + 500 || closings > 0,
            "a client whose requests wait is not read without bound")
    }

    private mutating func keepPromise() {
        guard !promised.isEmpty else { return }
        let kept = promised.remove(at: random.below(promised.count))
        machine.machine.fulfil(kept.turn) { $0.bulk("\(kept.request)") }
        if random.chance(70) { work() }
    }

    private mutating func clientReads() {
        guard pendingBytes > 0 else { return work() }
        pendingBytes = random.chance(50) ? 0 : random.below(pendingBytes)
        work()
    }

    private mutating func stop() {
        isStopped = true
        machine.machine.drain()
        work()
    }

    private mutating func close() {
        machine.machine.close()
        work()
    }

    private mutating func work() {
        while true {
            switch machine.machine.next(pendingBytes: pendingBytes) {
            case .execute(let arguments): execute(arguments)
            case .reject: machine.machine.reply { $0.error("ERR", "rejected") }
            case .send:
                expect(!machine.machine.replies.isEmpty, "nothing empty is sent")
                output += Array(machine.machine.replies.bytes)
                if random.chance(40) { pendingBytes += machine.machine.replies.count }
                machine.machine.sent()
            case .stopReading:
                expect(isReading, "reading stops once")
                isReading = false
            case .startReading:
                expect(!isReading, "reading starts once")
                isReading = true
            case .close:
                closings += 1
                expect(machine.machine.isAnswered || isStopped, "nobody is left without an answer")
            case .wait: return
            }
        }
    }

    private mutating func execute(_ arguments: Arguments) {
        expect(!isStopped && closings == 0, "a session that stops executes nothing")
        expect(String(decoding: arguments[0].bytes, as: UTF8.self) == "\(executed)", "requests come in order")
        guard executed < requests.count else { return }
        let request = requests[executed]
        let mustWait = promised.contains { $0.isHolding || request.kind.effect.waits(for: $0.category) }
        guard machine.machine.admit(request.kind.effect) else { return }
        expect(!mustWait, "a request waits for the earlier ones that it depends on")
        expect(pendingBytes < Simulation.limits.outputPause, "a client that does not read executes nothing")
        executedBytes += request.bytes.count
        executed += 1
        guard let category = request.kind.category else {
            let reply = request.kind == .bigRead ? String(repeating: "y", count: 400) : ""
            return machine.machine.reply { $0.bulk("\(self.executed - 1)\(reply)") }
        }
        let isHolding = request.kind == .heldCart
        let turn = machine.machine.promise(about: category, isHolding: isHolding)
        promised.append(Promised(turn: turn, request: executed - 1, category: category, isHolding: isHolding))
    }

    // MARK: What the client got

    /// How many replies are there, each the one of its request.
    var answered: Int {
        let replies = replies
        for (index, reply) in replies.enumerated() {
            let expected = "\(index)" + (requests[index].kind == .bigRead ? String(repeating: "y", count: 400) : "")
            expect(reply == expected, "reply \(index) is that of its request")
        }
        return replies.count
    }

    /// Whether the last bytes are the error.
    var isRejected: Bool { output.suffix(15).elementsEqual("-ERR rejected\r\n".utf8) }

    private var replies: [String] {
        var replies: [String] = []
        var rest = output[...]
        while !rest.isEmpty, rest.first != UInt8(ascii: "-") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
                let length = Int(String(decoding: rest[(rest.startIndex + 1)..<(end - 1)], as: UTF8.self))
            else { break }
            replies.append(String(decoding: rest[(end + 1)..<(end + 1 + length)], as: UTF8.self))
            rest = rest[(end + 3 + length)...]
        }
        return replies
    }
}
