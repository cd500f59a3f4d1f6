import LineProtocol
import OracleScene
import SeededRandom
import Testing
import TextFormats

@testable import LoadOracle

@Suite("The ledger of an outlet's homes")
struct HomeLedgerTests {
    /// An outlet that its owner changes, and its past homes.
    private final class Scene {
        let trial: Trial
        let ledger: HomeLedger
        var outlet: Outlet { trial.world.outlets[0] }
        var server: RightServer { trial.server }
        var homes: [Int64: [UInt8]] = [:]

        init() throws {
            trial = try Trial(outlets: 1, items: 24)
            ledger = HomeLedger(trial.world.outlets[0])
            keep()
        }

        private func keep() { homes[server.revision(0)] = RightServer.bytes(server.home(0)) }

        /// A change that was made, before its owner is told.
        func make(_ call: Call) throws -> Reply {
            try trial.observe(.changeSent(call))
            defer { keep() }
            return server.answer(call)
        }

        func settle(_ call: Call, _ reply: Reply) throws { try trial.judge(call, reply, of: 0) }

        func change(_ call: Call) throws { try settle(call, make(call)) }

        func read(since floor: Int? = nil) throws -> Int64 {
            try ledger.read(home(), since: floor ?? outlet.settledCount)
        }

        func home(_ revision: Int64? = nil) -> [UInt8] { homes[revision ?? server.revision(0)] ?? [] }

        func patch(from: Int64, to: Int64) throws -> [UInt8] { try JSONPatch.bytes(from: home(from), to: home(to)) }

        @discardableResult
        func apply(_ patch: [UInt8], from: Int64, to: Int64, since floor: Int? = nil) throws -> Bool {
            let operations = try #require(JSON(patch)?.array)
            return try ledger.patch(from: from, to: to, patch, operations, since: floor ?? outlet.settledCount)
        }

        func randomChange(_ random: inout SeededGenerator) -> Call {
            let item = random.number(0..<24)
            let extra = 24 + random.number(0..<2)
            return switch (random.number(0..<6), outlet.menu.item(item).hasSizes) {
            case (0, false), (1, false): .price(outlet: 0, item: item, minor: Int64(random.number(100..<4_000)))
            case (0...2, _): .suspend(outlet: 0, item: item)
            case (3, _): .resume(outlet: 0, item: item)
            case (4, _): outlet.current(.doors).isAvailable ? .close(outlet: 0) : .open(outlet: 0)
            default:
                outlet.current(item: extra).isListed
                    ? .unlist(outlet: 0, item: extra) : .list(outlet: 0, item: extra, before: nil)
            }
        }
    }

    @Test("finds nothing wrong with correct homes and patches", arguments: UInt64(0)..<8)
    func right(seed: UInt64) throws {
        let scene = try Scene()
        var random = SeededGenerator(seed: seed)
        var held = try scene.read()
        var patches = 0
        for _ in 0..<120 {
            let floor = scene.outlet.settledCount
            switch random.number(0..<4) {
            case 0: try scene.change(scene.randomChange(&random))
            case 1: held = try scene.read(since: floor)
            case 2:
                let to = scene.server.revision(0)
                if held == to {
                    try scene.ledger.unchanged(held, since: floor)
                } else if try scene.apply(scene.patch(from: held, to: to), from: held, to: to, since: floor) {
                    patches += 1
                    held = to
                }
            default:
                // Whoever asked before a change was settled may still see the state before.
                let before = scene.home()
                let call = scene.randomChange(&random)
                let reply = try scene.make(call)
                _ = try scene.ledger.read(random.chance(50) ? before : scene.home(), since: floor)
                try scene.settle(call, reply)
            }
        }
        #expect(patches > 5)
    }

    /// A mistake in a home.
    enum Mistake: CaseIterable {
        case outlet, status, state, chip, chipOrder, section, sectionOrder
        case lostItem, itemOrder, strayItem, extra, otherItem, name, kind, price, availability
    }

    @Test("finds every mistake in a home", arguments: Mistake.allCases)
    func mistakes(mistake: Mistake) throws {
        let scene = try Scene()
        var home = scene.server.home(0)
        #expect(throws: Never.self) { try scene.ledger.read(RightServer.bytes(home), since: 0) }
        mistake.make(in: &home)
        let other = HomeLedger(scene.outlet)
        #expect(throws: Violation.self) { try other.read(RightServer.bytes(home), since: 0) }
        // Nor is it taken for a second reading of the same revision.
        #expect(throws: Violation.self) { try scene.ledger.read(RightServer.bytes(home), since: 0) }
    }

    @Test("finds a home that is older than what its owner was told", arguments: 0..<6)
    func stale(number: Int) throws {
        let scene = try Scene()
        if number == 2 { try scene.change(.suspend(outlet: 0, item: 3)) }
        if number == 5 { try scene.change(.list(outlet: 0, item: 24, before: nil)) }
        let old = scene.home()
        _ = try scene.read()
        let floor = scene.outlet.settledCount
        try scene.change(
            [
                .price(outlet: 0, item: 5, minor: 9), .suspend(outlet: 0, item: 5), .resume(outlet: 0, item: 3),
                .close(outlet: 0), .list(outlet: 0, item: 25, before: nil), .unlist(outlet: 0, item: 24),
            ][number])
        // Whoever asked before may see it, but nobody who asked afterwards.
        #expect(throws: Never.self) { try scene.ledger.read(old, since: floor) }
        #expect(throws: Violation.self) { try scene.ledger.read(old, since: scene.outlet.settledCount) }
        #expect(throws: Never.self) { try scene.read() }
    }

    @Test("finds an answer that nothing has changed although something has")
    func unchanged() throws {
        let scene = try Scene()
        let held = try scene.read()
        try scene.ledger.unchanged(held, since: 0)
        try scene.change(.price(outlet: 0, item: 5, minor: 9))
        #expect(throws: Violation.self) { try scene.ledger.unchanged(held, since: scene.outlet.settledCount) }
    }

    @Test("finds a patch that lacks an operation, leads elsewhere, or cannot be applied")
    func patches() throws {
        for isReadFirst in [false, true] {
            let scene = try Scene()
            let from = try scene.read()
            try scene.change(.price(outlet: 0, item: 5, minor: 9))
            try scene.change(.suspend(outlet: 0, item: 7))
            let to = scene.server.revision(0)
            if isReadFirst { _ = try scene.read() }
            let patch = try scene.patch(from: from, to: to)
            guard case .array(let operations) = try JSONValue(patch) else { return }
            #expect(operations.count == 3)
            for missing in operations.indices {
                var rest = operations
                rest.remove(at: missing)
                var writer = JSONWriter()
                JSONValue.array(rest).write(to: &writer)
                #expect(throws: Violation.self, "without \(operations[missing])") {
                    try scene.apply(writer.bytes, from: from, to: to)
                }
            }
            let stray = Array(#"[{"op":"remove","path":"/sections/77"}]"#.utf8)
            #expect(throws: Violation.self) { try scene.apply(stray, from: from, to: to) }
            #expect(try scene.apply(patch, from: from, to: to))
            #expect(try scene.apply(patch, from: from, to: to))
        }
    }

    @Test("finds once that a home differs from what patches led to")
    func patchedAndRead() throws {
        let scene = try Scene()
        let from = try scene.read()
        try scene.change(.price(outlet: 0, item: 5, minor: 9))
        let to = scene.server.revision(0)
        // With a member that the model does not know.
        let patch =
            try scene.patch(from: from, to: to).dropLast() + Array(#",{"op":"add","path":"/x","value":1}]"#.utf8)
        #expect(try scene.apply(Array(patch), from: from, to: to))
        #expect(throws: Violation.self) { try scene.read() }
        #expect(throws: Never.self) { try scene.read() }
        // Two homes of one revision are not the mistake of a patch.
        var home = scene.server.home(0)
        home["x"] = 1
        #expect(throws: Violation.self) { try scene.ledger.read(RightServer.bytes(home), since: 1) }
    }

    @Test("cannot judge a patch from a revision that it no longer has")
    func forgotten() throws {
        let scene = try Scene()
        let first = try scene.read()
        for price in 0..<100 {
            try scene.change(.price(outlet: 0, item: 5, minor: Int64(price)))
            _ = try scene.read()
        }
        let to = scene.server.revision(0)
        #expect(!scene.ledger.knows(first) && scene.ledger.knows(to))
        #expect(try !scene.apply(scene.patch(from: first, to: to), from: first, to: to))
        #expect(!scene.ledger.knows(to + 1))
    }

    @Test("finds a reply that is not a home", arguments: ["", "{}", "[]", #"{"revision":"1"}"#, "null"])
    func noHome(text: String) throws {
        let scene = try Scene()
        #expect(throws: Violation.self) { try scene.ledger.read(Array(text.utf8), since: 0) }
    }
}

extension HomeLedgerTests.Mistake {
    fileprivate func make(in home: inout [String: Any]) {
        var outlet = home["outlet"] as? [String: Any] ?? [:]
        var sections = home["sections"] as? [[String: Any]] ?? []
        var items = sections[1]["items"] as? [[String: Any]] ?? []
        var model = items[0]["model"] as? [String: Any] ?? [:]
        var chips = (home["tagBar"] as? [String: Any])?["chips"] as? [[String: Any]] ?? []
        switch self {
        case .outlet: outlet["id"] = "another"
        case .status: outlet["status"] = "paused"
        case .state: home["state"] = "empty"
        case .chip: chips.removeLast()
        case .chipOrder: chips.swapAt(0, 1)
        case .section: sections.removeLast()
        case .sectionOrder: sections.swapAt(0, 2)
        case .lostItem: items.removeLast()
        case .itemOrder: items.swapAt(0, 1)
        case .strayItem: items[0]["id"] = "dessert"
        case .extra: items.append(["id": "i24", "kind": "menuItem", "model": model])
        case .otherItem: items[0]["id"] = "i999"
        case .name: model["name"] = "Another Pie"
        case .kind: items[0]["kind"] = "promo"
        case .price: model["price"] = 7
        case .availability: model["available"] = false
        }
        if !items.isEmpty, [.name, .price, .availability].contains(self) { items[0]["model"] = model }
        if ![.section, .sectionOrder].contains(self) { sections[1]["items"] = items }
        home["outlet"] = outlet
        home["sections"] = sections
        home["tagBar"] = ["chips": chips]
    }
}
