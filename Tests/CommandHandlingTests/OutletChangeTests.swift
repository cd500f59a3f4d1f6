import CommandHandling
import Domain
import EventLog
import Projections
import Testing

@Suite("Commands on carts, while the outlet changes")
struct OutletChangeTests {
    private let log = FaultyLog()

    /// Adds tea to a cart, at the price that the process knows.
    private func addTea(to cart: Identifier, on process: TestProcess) {
        process.send(.cart(cart)) { _, _ in
            .cart(.add(Cart.Addition(outlet: "o", item: "item-0", quantity: 1, offer: offer(on: process))))
        }
    }

    /// Adds something of another outlet to a cart.
    private func addCoffee(to cart: Identifier, on process: TestProcess) {
        process.send(.cart(cart)) { _, _ in
            .cart(.add(Cart.Addition(outlet: "p", item: "coffee", quantity: 1, offer: .tea)))
        }
    }

    private func offer(on process: TestProcess) -> Offer {
        process.model.outletHome.offer(of: "item-0", with: [], at: "o", now: Timestamp(millisecondsSinceEpoch: 0))
    }

    private func reprice(_ price: Int64, on process: TestProcess) {
        process.send(.menu("o")) { _, _ in .menu(.reprice("item-0", Amount(minorUnits: price))) }
    }

    private func openOutlet(on process: TestProcess) async {
        process.send(.outlet("o")) { _, _ in .outlet(.put(.named("O"))) }
        process.send(.outlet("o")) { _, _ in .outlet(.open) }
        process.send(.menu("o")) { _, _ in .menu(.put(.items(1))) }
        _ = await process.settle()
    }

    /// The prices of everything that was added, and those of the menu, in the order of the log.
    private func prices() async throws -> [String] {
        try await log.inner.events().compactMap { event in
            switch event.event {
            case .menu(.itemRepriced(_, let price)): "menu \(price.minorUnits)"
            case .cart(.itemAdded(let line, _, _, _)): "\(event.stream.id) \(line.unitPrice.minorUnits)"
            default: nil
            }
        }
    }

    @Test func `a command waits until the outlet's change is durable, and is decided on it`() async throws {
        let process = TestProcess(log)
        await openOutlet(on: process)
        reprice(120, on: process)
        addTea(to: "c", on: process)
        #expect(await process.settle() == [.version(3), .count(1)])
        #expect(try await prices() == ["menu 120", "c 120"])
    }

    @Test func `what has been decided before the outlet's change stands before it`() async throws {
        let process = TestProcess(log)
        await openOutlet(on: process)
        addTea(to: "c", on: process)
        reprice(120, on: process)
        _ = await process.settle()
        #expect(try await prices() == ["c 100", "menu 120"])
    }

    @Test func `commands on a cart keep their order, even those that need no outlet`() async throws {
        let process = TestProcess(log)
        await openOutlet(on: process)
        reprice(120, on: process)
        addTea(to: "c", on: process)
        process.send("c", .clear)
        addTea(to: "c", on: process)
        #expect(await process.settle() == [.version(3), .count(1), .count(0), .count(1)])
    }

    @Test func `an outlet that never stops changing keeps no cart waiting`() async throws {
        let process = TestProcess(log)
        await openOutlet(on: process)
        for number: Int64 in 1...3 {
            reprice(100 + number, on: process)
            addTea(to: Identifier("c\(number)")!, on: process)
        }
        #expect(await process.settle().count == 6)
        #expect(
            try await prices() == ["menu 101", "c1 101", "menu 102", "c2 102", "menu 103", "c3 103"])
    }

    @Test func `whoever waits for a change that fails is decided on the outlet as it was`() async throws {
        let process = TestProcess(log)
        await openOutlet(on: process)
        reprice(120, on: process)
        addTea(to: "c", on: process)
        await log.fail(appends: [.refused])
        let outcomes = await process.settle()
        #expect(outcomes.count == 2 && outcomes[0].isUnavailable && outcomes[1] == .count(1))
        #expect(try await prices() == ["c 100"])
    }

    @Test func `a command is decided again if another server has changed its outlet`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        await openOutlet(on: rival)
        await process.catchUp()
        reprice(120, on: rival)
        _ = await rival.settle()
        addTea(to: "c", on: process)
        addCoffee(to: "d", on: process)
        await process.appendBatch()
        #expect(process.takeOutcomes().count == 1, "only its neighbour is durable at once")
        #expect(await process.settle() == [.count(1)])
        #expect(try await prices() == ["menu 120", "d 250", "c 120"])
    }

    @Test func `a command of the next batch is decided again, too`() async throws {
        var limits = CommandProcessor.Limits()
        limits.batchEvents = 1
        let (process, rival) = (TestProcess(log, limits: limits), TestProcess(log))
        await openOutlet(on: rival)
        await process.catchUp()
        reprice(120, on: rival)
        _ = await rival.settle()
        addCoffee(to: "d", on: process)
        addTea(to: "c", on: process)
        _ = await process.settle()
        #expect(try await prices() == ["menu 120", "d 250", "c 120"])
    }

    // MARK: An outlet and its menu

    private static let taxed = OutletDetails.named("O").taxed

    /// Drops the outlet's tax, if no item names it as far as the process knows.
    private func dropTax(on process: TestProcess) {
        process.send(.outlet("o")) { _, _ in
            .outlet(.put(.named("O").including, menuTaxes: process.model.outletHome["o"]?.menuTaxes ?? [:]))
        }
    }

    /// Puts an item that names the tax, if the outlet has it as far as the process knows.
    private func nameTax(on process: TestProcess) {
        process.send(.menu("o")) { _, _ in
            let taxes = process.model.outletHome["o"]?.details?.details.pricing.taxes ?? []
            let item = MenuItem(id: "pie", kind: "menuItem", name: "Pie", price: 100, tax: "vat")
            return .menu(.putItem(item, section: "s", before: nil, taxes: Set(taxes.map(\.id))))
        }
    }

    private func openTaxed(on process: TestProcess) async {
        process.send(.outlet("o")) { _, _ in .outlet(.put(Self.taxed)) }
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        process.send(.menu("o")) { _, _ in .menu(.putSection(header, before: nil)) }
        _ = await process.settle()
    }

    @Test func `a tax that goes waits for the menu's changes, and an item with a tax for the outlet's`() async throws {
        let process = TestProcess(log)
        await openTaxed(on: process)
        nameTax(on: process)
        dropTax(on: process)
        #expect(await process.settle().map(\.rejectionCode) == [nil, .state])

        process.send(.menu("o")) { _, _ in .menu(.removeItem("pie")) }
        _ = await process.settle()
        dropTax(on: process)
        nameTax(on: process)
        #expect(await process.settle().map(\.rejectionCode) == [nil, .invalid])
    }

    @Test func `of two servers, one drops a tax or the other has an item name it`() async throws {
        for drops in [true, false] {
            let log = FaultyLog()
            let (process, rival) = (TestProcess(log), TestProcess(log))
            await openTaxed(on: rival)
            await process.catchUp()
            if drops { dropTax(on: rival) } else { nameTax(on: rival) }
            #expect(await rival.settle().map(\.rejectionCode) == [nil])
            if drops { nameTax(on: process) } else { dropTax(on: process) }
            #expect(await process.settle().map(\.rejectionCode) == [drops ? .invalid : .state])
        }
    }

    @Test func `other outlets' changes disturb nobody`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        await openOutlet(on: rival)
        await process.catchUp()
        rival.send(.outlet("p")) { _, _ in .outlet(.put(.named("P"))) }
        _ = await rival.settle()
        addTea(to: "c", on: process)
        await process.appendBatch()
        #expect(process.takeOutcomes() == [.count(1)])
    }
}

extension OutletDetails {
    /// The same, with prices that include taxes.
    fileprivate var including: OutletDetails {
        var details = self
        details.pricing.taxIncluded = true
        return details
    }

    /// The same, with a tax.
    fileprivate var taxed: OutletDetails {
        var details = including
        details.pricing.taxes = [.init(id: "vat", name: "VAT", rate: Rate(thousandths: 20_000)!)]
        return details
    }
}
