import HTTP
import SeededRandom
import Testing

@testable import WebServer

/// Every interleaving that a seed leads to: requests cut anywhere, answers given late, clients that wait with their
/// bodies, end, fall silent or vanish, and servers that stop.
@Suite struct WebConnectionMachineTests {
    @Test(arguments: 0..<500 as Range<UInt64>)
    func `requests are answered once and in order, however their bytes are cut`(seed: UInt64) {
        let simulation = Simulation(seed: seed, ending: .peerEnds)
        simulation.run()
        simulation.expect(simulation.lines == simulation.expected().lines, "\(simulation.lines)")
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `a server that stops answers what is in flight and nothing else`(seed: UInt64) {
        let simulation = Simulation(seed: seed, ending: .serverStops)
        simulation.run()
        simulation.expect(simulation.lines.last == "closed", "the connection is closed")
        // The last answer may say so.
        let lines = simulation.lines.dropLast().map { $0.replacing(", the last", with: "") }
        let expected = simulation.expected().lines.map { $0.replacing(", the last", with: "") }
        simulation.expect(expected.starts(with: lines), "\(lines)")
        simulation.expect(simulation.begun == lines.count { $0.hasPrefix("answer") || $0.hasPrefix("stream") }, "all")
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `a connection that is lost is sent nothing more and holds nothing`(seed: UInt64) {
        let simulation = Simulation(seed: seed, ending: .lost)
        simulation.run()
        simulation.expect(simulation.expected().lines.starts(with: simulation.lines), "\(simulation.lines)")
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `a client that falls silent is told so in the middle of a request`(seed: UInt64) {
        let simulation = Simulation(seed: seed, ending: .silence)
        simulation.run()
        let (lines, awaited) = simulation.expected()
        switch awaited {
        case nil: simulation.expect(simulation.lines == lines, "\(simulation.lines)")
        case .request?: simulation.expect(simulation.lines == lines + ["closed"], "\(simulation.lines)")
        case .head?, .body?:
            simulation.expect(simulation.lines == lines + ["refused 408", "closed"], "\(simulation.lines)")
        }
    }

    private static let head = "POST /999 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"

    @Test(
        arguments: [
            // What comes after 5, 8 and 9 seconds, since when the rest is awaited, and how long.
            (["", "", ""], 0, 3_000),
            (["GET /999 HTTP/1.1\r\nHost: localhost\r\n\r\n", "", ""], 5, 3_000),
            (["", "G", "E"], 8, 1_000),
            ([head + "GET /0", " ", "H"], 5, 2_000),
            (["", head, "1"], 8, 2_000),
            (["P", String(head.dropFirst()), "12345678"], 8, 2_000),
            ([head, "123456789", "G"], 9, 1_000),
        ] as [([String], UInt64, UInt64)])
    func `time counts from the first byte of a head and from the beginning of a body`(
        _ pieces: [String], _ since: UInt64, _ limit: UInt64
    ) {
        let second: UInt64 = 1_000_000_000
        let simulation = Simulation(seed: 0, ending: .silence)
        for (time, piece) in zip([5, 8, 9] as [UInt64], pieces) where !piece.isEmpty {
            simulation.now = time * second
            simulation.receive(Array(piece.utf8))
        }
        #expect(!simulation.isOver(at: (since + limit) * second - 1))
        #expect(simulation.isOver(at: (since + limit) * second))
    }

    @Test func `a client that does not read is cut off, and one that has time is sent comments`() {
        let second: UInt64 = 1_000_000_000
        let defaults = WebConfiguration()
        var machine = WebConnectionMachine<Int>(defaults, at: .store, at: 0)
        machine.begin(7)
        machine.progressed(at: 10 * second)
        guard case .wait = machine.tick(at: 25 * second - 1, pendingBytes: 0, within: defaults),
            case .comment = machine.tick(at: 25 * second, pendingBytes: 0, within: defaults),
            case .wait = machine.tick(at: 70 * second - 1, pendingBytes: 1, within: defaults),
            case .abort = machine.tick(at: 70 * second, pendingBytes: 1, within: defaults)
        else {
            Issue.record("a comment comes after 15 seconds, and the end after 60")
            return
        }
    }
}

/// A machine between a client that sends requests and a server that answers them, all at random.
private final class Simulation {
    enum Ending { case peerEnds, serverStops, lost, silence }

    /// What a client that falls silent owes.
    enum Awaited { case request, head, body }

    private enum Kind: CaseIterable {
        case plain, late, head, body, expecting
        /// Nothing behind these is answered.
        case last, stream, unwelcome, large, malformed

        var waitsForContinue: Bool { self == .expecting || self == .unwelcome }
    }

    private struct Request {
        var kind: Kind
        var head: [UInt8]
        var body: [UInt8]
    }

    private static let configuration = {
        var configuration = WebConfiguration()
        configuration.storeLimits.headBytes = 300
        configuration.storeLimits.bodyBytes = 200
        configuration.headSeconds = 1_000
        configuration.bodySeconds = 2_000
        configuration.idleSeconds = 3_000
        configuration.commentSeconds = 3_000
        return configuration
    }()

    var now: UInt64 = 0
    private(set) var lines: [String] = []
    private(set) var begun = 0
    private let seed: UInt64
    private let ending: Ending
    private var random: SeededGenerator
    private var machine = WebConnectionMachine<Int>(Simulation.configuration, at: .store, at: 0)
    private var requests: [Request] = []
    private var sent: [UInt8] = []
    private var delivered = 0
    private var begunBytes = 0
    /// The client waits with the rest until it is told to go on.
    private var barriers: [Int] = []
    private var bodies = BodyTotals(shortBytes: 100)
    private var isReading = false
    private var isPaused = false
    private var isStopped = false
    private var isClosed = false
    private var promised: Int?

    init(seed: UInt64, ending: Ending) {
        self.seed = seed
        self.ending = ending
        random = SeededGenerator(seed: seed)
        for index in 0..<random.number(1...20) {
            let request = request(index, random.pick(Array(Kind.allCases.prefix(random.chance(85) ? 5 : 10))))
            requests.append(request)
            sent += request.head
            if request.kind.waitsForContinue { barriers.append(sent.count) }
            sent += request.body
        }
        if ending == .silence { sent.removeLast(random.below(min(sent.count, 400))) }
        work()
    }

    private func request(_ index: Int, _ kind: Kind) -> Request {
        var head =
            "\(kind == .head ? "HEAD" : "GET") /\(index) HTTP/\(kind == .malformed ? "2.0" : "1.1")\r\nHost: a\r\n"
        var body: [UInt8] = []
        if random.chance(50) { head += "X: \(String(repeating: "x", count: random.below(100)))\r\n" }
        if kind == .last { head += "Connection: close\r\n" }
        if kind == .large { head += "Content-Length: 201\r\n" }
        if kind == .body || kind.waitsForContinue {
            // Text that could be taken for a request.
            body = Array("GET /99 HTTP/1.1\r\nHost: a\r\n\r\n".utf8) + Array(repeating: 10, count: random.below(170))
            head += "Content-Length: \(body.count)\r\n"
        }
        if kind.waitsForContinue { head += "Expect: 100-continue\r\n" }
        return Request(kind: kind, head: Array("\(head)\r\n".utf8), body: body)
    }

    func expect(_ isTrue: Bool, _ what: Comment) { #expect(isTrue, "seed \(seed): \(what)") }

    // MARK: What should become of the requests

    /// What the client is sent for what it has sent, as it would be if every request were answered at once; and what it
    /// still owes.
    func expected() -> (lines: [String], awaited: Awaited?) {
        var lines: [String] = []
        var rest = sent.count
        for (index, request) in requests.enumerated() {
            guard rest >= request.head.count else { return (lines, rest == 0 ? .request : .head) }
            rest -= request.head.count
            switch request.kind {
            case .malformed: return (lines + ["refused 505", "closed"], nil)
            case .large: return (lines + ["refused 413", "closed"], nil)
            case .unwelcome: return (lines + ["refused 403", "closed"], nil)
            case .last: return (lines + ["answer \(index), the last", "closed"], nil)
            case .stream:
                return (lines + ["stream \(index)", "end \(index)"] + (ending == .silence ? [] : ["closed"]), nil)
            case .expecting: lines.append("continue")
            case .plain, .late, .head, .body: break
            }
            guard rest >= request.body.count else { return (lines, .body) }
            rest -= request.body.count
            lines.append("answer \(index)\(request.kind == .head ? " without a body" : "")")
        }
        return ending == .silence ? (lines, .request) : (lines + ["closed"], nil)
    }

    // MARK: Running

    func run() {
        for _ in 0..<5_000 where !isClosed {
            switch random.below(10) {
            case 0...3: deliver()
            case 4...5: keepPromise()
            case 6 where isPaused: resume()
            case 7:
                if perform(machine.tick(at: now, pendingBytes: 0, within: Simulation.configuration), since: now) {
                    work()
                }
            case 8 where ending == .serverStops && random.chance(5): stop()
            case 8 where ending == .lost && random.chance(5): lose()
            default: work()
            }
        }
        expect(isClosed, "the connection ends")
        whatComesTooLate()
        expect(machine.takeInput().isEmpty, "nothing is kept of what it sent")
        expect(bodies.bytes == 0 && bodies.longBytes == 0, "no body is counted any more")
    }

    private func deliver() {
        guard isReading else { return }
        let end = min(
            barriers.first ?? sent.count, delivered + random.number(1...random.pick([3, 50, 500])), sent.count)
        guard end > delivered else {
            // Nobody is told to go on behind a stream.
            if delivered == sent.count || machine.stream != nil { allIsSent() }
            return
        }
        defer { delivered = end }
        receive(Array(sent[delivered..<end]))
        expect(
            isClosed || machine.stream != nil || end - begunBytes <= 300 + 200 + 500,
            "a client whose requests wait is not read without bound")
    }

    func receive(_ chunk: [UInt8]) {
        var chunk = chunk
        chunk.withUnsafeMutableBytes { bytes in
            machine.received(UnsafeRawBufferPointer(bytes), at: now)
            work()
            // The loop reads the next bytes to the same place.
            for index in bytes.indices { bytes[index] = UInt8(ascii: "?") }
        }
    }

    private func allIsSent() {
        switch ending {
        case .peerEnds:
            machine.peerEnded()
            work()
        case .serverStops: stop()
        case .lost: lose()
        case .silence: fallSilent()
        }
    }

    private func keepPromise() {
        guard let index = promised else { return }
        promised = nil
        machine.answer(answer(index))
        if random.chance(70) { work() }
    }

    private func resume() {
        isPaused = false
        machine.resume()
        work()
    }

    private func stop() {
        isStopped = true
        machine.drain()
        work()
    }

    private func lose() {
        machine.lost()
        work()
        isClosed = true
    }

    private func fallSilent() {
        work()
        guard promised == nil, !isPaused, !isClosed else { return }
        guard machine.stream == nil else { return lose() }
        let silence = now
        let limit: UInt64 =
            switch expected().awaited {
            case .request?, nil: 3_000
            case .head?: 1_000
            case .body?: 2_000
            }
        expect(!isOver(at: limit * 1_000_000_000 - 1), "a client has its time")
        expect(isOver(at: silence + limit * 1_000_000_000), "a client has no more than its time")
    }

    /// Whether the connection is closed at a time.
    func isOver(at time: UInt64) -> Bool {
        now = max(now, time)
        if perform(machine.tick(at: time, pendingBytes: 0, within: Simulation.configuration), since: now) { work() }
        return isClosed
    }

    /// What other parts of a server may still have for a connection that is closed.
    private func whatComesTooLate() {
        let lines = lines
        if let promised { machine.answer(answer(promised)) }
        machine.received(UnsafeRawBufferPointer(start: nil, count: 0), at: now)
        machine.resume()
        machine.peerEnded()
        machine.drain()
        machine.close()
        work()
        machine.lost()
        work()
        expect(self.lines == lines, "nothing is sent after the end")
    }

    // MARK: Steps

    private func work() {
        let began = now
        while perform(machine.next(at: now, since: began), since: began) {}
    }

    private func perform(_ step: WebConnectionMachine<Int>.Step, since began: UInt64) -> Bool {
        switch step {
        case .answer(let request):
            expect(!isPaused && !isStopped && promised == nil && !isClosed, "a request is begun in its turn")
            expect(now - began <= Simulation.configuration.quantum, "others have their turn")
            begin(request)
        case .count(let bytes, let request):
            bodies.add(bytes)
            if kind(of: request) == .unwelcome { machine.refuse(Problem(.forbidden, "DENIED", "")) }
        case .release(let bytes): bodies.remove(bytes)
        case .carryOn:
            lines.append("continue")
            barriers.removeFirst()
        case .send(let answer, let manner):
            let index = String(decoding: answer.body, as: UTF8.self)
            lines.append(
                "answer \(index)\(manner.isHead ? " without a body" : "")\(manner.keepsAlive ? "" : ", the last")")
        case .refuse(let problem): lines.append("refused \(problem.status.rawValue)")
        case .end(let stream): lines.append("end \(stream)")
        case .reread:
            machine.takeInput().withUnsafeBytes { bytes in
                machine.reread(bytes)
                work()
            }
            return false
        case .nextTurn: isPaused = true
        case .startReading, .stopReading:
            if case .startReading = step { expect(!isReading, "reading starts once") }
            isReading.toggle()
        case .close:
            expect(!isClosed, "the connection is closed once")
            isClosed = true
            lines.append("closed")
        case .comment, .abort: expect(false, "nobody was slow")
        case .wait: return false
        }
        return true
    }

    private func begin(_ request: HTTPRequest) {
        let index = index(of: request)
        begun += 1
        if index < requests.count {
            begunBytes += requests[index].head.count + requests[index].body.count
            now += UInt64(random.below(200_000))
        }
        switch kind(of: request) {
        case .late: promised = index
        case .stream:
            lines.append("stream \(index)")
            machine.begin(index)
        default: machine.answer(answer(index))
        }
    }

    private func index(of request: HTTPRequest) -> Int { Int(request.path.dropFirst()) ?? -1 }

    private func kind(of request: HTTPRequest) -> Kind {
        let index = index(of: request)
        return index < requests.count ? requests[index].kind : .plain
    }

    private func answer(_ index: Int) -> HTTPAnswer { HTTPAnswer(.ok, body: Array("\(index)".utf8)[...]) }
}
