import Application
import EventLog
import LineProtocol
import SeededRandom
import Testing
import TextFormats

@testable import LineServer

/// Every interleaving that a seed leads to: requests cut anywhere, replies promised and given in any order, clients
/// that read slowly, end, or send garbage, and servers that stop.
@Suite struct SessionMachineTests {
    @Test(arguments: 0..<400 as Range<UInt64>)
    func `requests run once and in order, and replies leave in that order`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .peerEnds)
        simulation.run()
        simulation.expect(simulation.answered == simulation.requests.count, "every request is answered")
        simulation.expect(simulation.closings == 1, "the connection closes once, after the last answer")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `bytes that are not a request are rejected after the answers to earlier requests`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .malformed)
        simulation.run()
        simulation.expect(simulation.answered == simulation.requests.count, "every request is answered")
        simulation.expect(simulation.isRejected, "the error is the last reply")
        simulation.expect(simulation.closings == 1, "the connection closes once")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a server that stops executes nothing more, and answers what is in flight`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .serverStops)
        simulation.run()
        simulation.expect(simulation.answered == simulation.executed, "what was executed is answered")
        simulation.expect(simulation.closings == 1, "the connection closes once")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a connection that is cut off answers no more, and nothing happens to it afterwards`(seed: UInt64) {
        var simulation = Simulation(seed: seed, ending: .cutOff)
        simulation.run()
        simulation.expect(simulation.answered <= simulation.executed, "no reply comes of nothing")
        simulation.expect(simulation.closings == 1, "the connection closes once")
    }

    @Test(arguments: [true, false])
    func `what a client sends behind its login is read as the login says`(succeeds: Bool) {
        var machine = SessionMachine(limits: LineConfiguration(), at: 0)
        machine.isAuthenticated = false
        // Too large for a client that has not logged in.
        let large = "*2\r\n$4\r\nECHO\r\n$20000\r\n\(String(repeating: "x", count: 20_000))\r\n"
        let text = "*2\r\n$4\r\nAUTH\r\n$1\r\nx\r\n" + String(repeating: large, count: 4)
        Array(text.utf8).withUnsafeBytes { bytes in
            machine.received(bytes, at: 1)
            guard case .execute = machine.next(pendingBytes: 0) else {
                Issue.record("the login is executed")
                return
            }
            let turn = machine.promise(about: .order, isHolding: true)
            guard case .stopReading = machine.next(pendingBytes: 0), case .wait = machine.next(pendingBytes: 0) else {
                Issue.record("nothing more is executed, nor much more taken")
                return
            }
            machine.isAuthenticated = succeeds
            machine.fulfil(turn) { $0.simpleString("OK") }
            switch machine.next(pendingBytes: 0) {
            case .execute(let arguments): #expect(succeeds && arguments[1].count == 20_000)
            case .reject(let error): #expect(!succeeds && error == .unauthenticatedBulkLength)
            default: Issue.record("the next request is read")
            }
        }
    }

    @Test(arguments: StreamName.Category.allCases)
    func `a read waits for an earlier command, whatever that is about`(category: StreamName.Category) {
        var machine = SessionMachine(limits: LineConfiguration(), at: 0)
        let turn = machine.promise(about: category, isHolding: false)
        let mayOvertake = machine.admit(.read)
        #expect(!mayOvertake)
        machine.fulfil(turn) { $0.simpleString("OK") }
        let isNext = machine.admit(.read)
        #expect(isNext)
    }

    private static let second: UInt64 = 1_000_000_000

    /// Gives the machine bytes, and returns how many requests they end.
    private static func feed(_ text: String, to machine: inout SessionMachine, at moment: UInt64) -> Int {
        Array(text.utf8).withUnsafeBytes { bytes in
            machine.received(bytes, at: moment)
            var count = 0
            while true {
                switch machine.next(pendingBytes: 0) {
                case .execute: count += 1
                case .wait: return count
                default: Issue.record("a request was expected, or nothing")
                }
            }
        }
    }

    @Test func `a client is overdue when it has been silent, but for one that listens or waits for a reply`() {
        let second = Self.second
        var machine = SessionMachine(limits: LineConfiguration(), at: 0)
        #expect(machine.overdue(at: 300 * second, isListening: false) == nil)
        #expect(machine.overdue(at: 301 * second, isListening: true) == nil)
        #expect(machine.overdue(at: 301 * second, isListening: false) == .idle)
        #expect(Self.feed("*1\r\n$4\r\nPING\r\n", to: &machine, at: 100 * second) == 1)
        #expect(machine.overdue(at: 400 * second, isListening: false) == nil)
        let turn = machine.promise(about: .cart, isHolding: false)
        #expect(machine.overdue(at: 401 * second, isListening: false) == nil)
        machine.fulfil(turn) { $0.integer(1) }
        #expect(machine.overdue(at: 401 * second, isListening: false) == .idle)
    }

    @Test func `a client is overdue in the middle of a request, however its bytes come`() {
        let second = Self.second
        var machine = SessionMachine(limits: LineConfiguration(), at: 0)
        #expect(Self.feed("*1\r\n$4\r\nPI", to: &machine, at: second) == 0)
        #expect(Self.feed("N", to: &machine, at: 20 * second) == 0)
        #expect(machine.overdue(at: 31 * second, isListening: true) == nil)
        #expect(machine.overdue(at: 32 * second, isListening: true) == .partial)
        // The next request is as old as its own first byte.
        #expect(Self.feed("G\r\n*1\r\n$4\r\n", to: &machine, at: 32 * second) == 1)
        #expect(machine.overdue(at: 62 * second, isListening: true) == nil)
        #expect(machine.overdue(at: 63 * second, isListening: true) == .partial)
        // Neither a whole request nor an empty line is the middle of one.
        #expect(Self.feed("PING\r\n", to: &machine, at: 63 * second) == 1)
        #expect(machine.overdue(at: 100 * second, isListening: true) == nil)
        #expect(Self.feed("\r\n", to: &machine, at: 70 * second) == 0)
        #expect(machine.overdue(at: 200 * second, isListening: true) == nil)
    }
}

/// A session machine between a client that sends requests and commands that answer them, all at random.
private struct Simulation {
    enum Ending { case peerEnds, malformed, serverStops, cutOff }

    struct Request {
        var kind: Kind
        var bytes: [UInt8]

        enum Kind: CaseIterable {
            /// A refused write is answered at once, in its turn.
            case read, bigRead, outlet, menu, cart, heldCart, refusedCart

            var effect: CommandDeclaration.Effect {
                switch self {
                case .read, .bigRead: .read
                case .outlet: .write(.outlet)
                case .menu: .write(.menu)
                case .cart, .heldCart, .refusedCart: .write(.cart)
                }
            }

            /// What its promised reply is about; nil where it is answered at once.
            var category: StreamName.Category? {
                if self != .refusedCart, case .write(let category) = effect { category } else { nil }
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
    private var isPaused = false
    private var hasEnded = false
    private var promised: [Promised] = []
    private var output: [UInt8] = []
    private var pushed = 0
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
            let emptyLine = random.chance(10) ? "\r\n" : ""
            let bytes = Array(
                "\(emptyLine)*2\r\n$\(String(index).count)\r\n\(index)\r\n$\(padding.count)\r\n\(padding)\r\n".utf8)
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
            case 8 where ending == .cutOff && random.chance(5): close()
            case 8 where random.chance(20): push()
            case 9 where isPaused: resume()
            default: if isStopped && promised.isEmpty { close() }
            }
        }
        whatComesTooLate()
        expect(messages == Array(0..<pushed), "every message is sent once and in order")
    }

    private mutating func deliver() {
        guard isReading else { return }
        guard delivered < sent.count else {
            if ending == .serverStops { return stop() }
            if ending == .cutOff { return close() }
            guard !hasEnded else { return }
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
        expect(!isStopped || !promised.isEmpty || closings > 0, "whoever asks a server that stops is cut off")
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

    private mutating func push() {
        machine.machine.push(Array("+\(pushed)\r\n".utf8))
        pushed += 1
        if random.chance(70) { work() }
    }

    private mutating func postpone() {
        isPaused = true
        machine.machine.postpone()
    }

    private mutating func resume() {
        isPaused = false
        machine.machine.resume()
        work()
    }

    private mutating func stop() {
        isStopped = true
        machine.machine.drain()
        work()
    }

    private mutating func close() {
        machine.machine.close()
        if random.chance(50) { machine.machine.drain() }
        work()
    }

    /// What other parts of a server may still have for a connection that is closed.
    private mutating func whatComesTooLate() {
        for kept in promised.shuffled(using: &random) { machine.machine.fulfil(kept.turn) { $0.bulk("too late") } }
        machine.machine.push(Array("+too late\r\n".utf8))
        machine.machine.peerEnded()
        machine.machine.drain()
        machine.machine.close()
        if case .wait = machine.machine.next(pendingBytes: pendingBytes) {
            expect(machine.machine.replies.isEmpty, "nothing is kept to be sent")
        } else {
            expect(false, "closing was the last step")
        }
    }

    private mutating func work() {
        while true {
            switch machine.machine.next(pendingBytes: pendingBytes) {
            case .execute(let arguments):
                expect(!isPaused, "a session that pauses executes nothing")
                if random.chance(20) { postpone() } else { execute(arguments) }
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
                expect(machine.machine.isAnswered || isStopped || ending == .cutOff, "nobody is left without an answer")
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
        expect(
            machine.machine.replies.count < Simulation.limits.outputPause, "replies are sent before there are too many")
        expect(promised.count < Simulation.limits.maximumPendingReplies, "few requests are on their way at once")
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

    // MARK: What the client received

    /// How many replies there are, each checked against its request.
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

    private var replies: [String] { received.replies }
    private var messages: [Int] { received.messages }

    /// The replies and the messages, in their order, up to the error.
    private var received: (replies: [String], messages: [Int]) {
        var (replies, messages): ([String], [Int]) = ([], [])
        var rest = output[...]
        while let kind = rest.popFirst(), kind != UInt8(ascii: "-"), let end = rest.firstIndex(of: UInt8(ascii: "\n")),
            let number = Int(String(decoding: rest[..<(end - 1)], as: UTF8.self))
        {
            rest = rest[(end + 1)...]
            guard kind != UInt8(ascii: "+") else {
                messages.append(number)
                continue
            }
            replies.append(String(decoding: rest.prefix(number), as: UTF8.self))
            rest = rest.dropFirst(number + 2)
        }
        return (replies, messages)
    }
}
