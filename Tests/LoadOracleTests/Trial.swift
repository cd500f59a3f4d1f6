import LineProtocol
import OracleScene
import Testing

@testable import LoadOracle

/// A run that is judged step by step, with a server that makes no mistakes. Times are counts of steps.
final class Trial {
    let oracle: Oracle
    let server: RightServer
    private(set) var clock: UInt64 = 1
    /// Every observation of the oracle.
    private(set) var observations: [Observation] = []
    private var writes: [Int: Int] = [:]

    /// A run that has built its outlets, all of them open.
    init(
        outlets: Int = 2, items: Int = 60, customers: Int = 3, seed: UInt64 = 1, builds: Bool = true, kitchens: Int = 0
    ) throws {
        let size = World.Size(outlets: outlets, items: items, carts: 0, kitchens: kitchens)
        oracle = Oracle(World.Plan(name: "m1", size: size, seed: seed, customers: customers), connections: 1)
        server = RightServer(oracle.world)
        guard builds else { return }
        for outlet in world.outlets {
            for call in [Call.putOutlet(outlet.index), .putMenu(outlet.index), .open(outlet: outlet.index)] {
                try own(call)
            }
        }
    }

    var world: World { oracle.world }

    /// A customer that owns nothing.
    var customer: Customer { oracle.customers[oracle.customers.count - 1] }

    /// Lets time pass, in seconds.
    func wait(_ seconds: Double) { clock += UInt64(seconds * 1e9) }

    func tick() -> UInt64 {
        clock += 1
        return clock
    }

    var violations: Int { oracle.findings.count + oracle.furtherFindings }

    /// Lets the oracle observe something.
    ///
    /// - Throws: the violation that it found.
    @discardableResult
    func observe(_ observation: Observation) throws -> Verdict {
        observations.append(observation)
        let before = violations
        let verdict = oracle.take(observation)
        guard violations == before else {
            throw Violation(oracle.findings.last?.check ?? .answer, oracle.findings.last?.message ?? "")
        }
        return verdict
    }

    /// The `ID` of a customer's next write.
    func write(_ call: Call, of customer: Int) -> Int {
        guard call.kind.isWrite else { return 0 }
        writes[customer, default: 0] += 1
        return writes[customer] ?? 0
    }

    @discardableResult
    func judge(
        _ call: Call, _ reply: Reply, of customer: Int? = nil, sentAt sent: UInt64? = nil, write: Int = 0
    ) throws -> Verdict {
        let sent = sent ?? tick()
        return try observe(
            .exchange(
                Exchange(
                    customer: customer ?? self.customer.index, call: call, write: write, planned: sent, sent: sent,
                    answered: tick(), reply: reply)))
    }

    /// A call that the server answers at once.
    @discardableResult
    func ask(_ call: Call, of customer: Int? = nil) throws -> Verdict {
        let customer = customer ?? self.customer.index
        let write = write(call, of: customer)
        return try judge(call, server.answer(call, id: "\(customer)-\(write)"), of: customer, write: write)
    }

    /// A change of an outlet's owner, from beginning to end.
    func own(_ call: Call) throws {
        try observe(.changeSent(call))
        let owner = world.outlets[call.outlet ?? 0].owner
        #expect(try [.accepted, .unchanged].contains(ask(call, of: owner)))
    }

    func expectHeld(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) throws {
        #expect(throws: Never.self, sourceLocation: place) { try judge(call, reply) }
    }

    func expectViolation(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) {
        #expect(throws: Violation.self, "\(call) answered \(reply.summary)", sourceLocation: place) {
            try judge(call, reply)
        }
    }

    /// Reads the log.
    func audit(_ log: [[UInt8]]? = nil) throws {
        let log = log ?? server.log
        try observe(.logBegins(heads: [0], at: tick()))
        for event in log { try observe(.logEvent(partition: 0, event: event)) }
        try observe(.logEnds(heads: [Int64(log.count)], at: tick()))
    }
}
