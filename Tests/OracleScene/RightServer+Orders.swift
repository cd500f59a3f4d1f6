internal import Domain
internal import EventLog
internal import Foundation
internal import LineProtocol
package import LoadOracle
internal import Projections

/// Orders as the domain decides them, and as the server shows them.
extension RightServer {
    struct KitchenOrder {
        var state = Order.initial
        var version: Int64 = 0
    }

    /// The time, in seconds since the Unix epoch.
    package var seconds: Int64 { now.millisecondsSinceEpoch / 1_000 }

    /// What an outlet says about its orders.
    func details(of outlet: LoadOracle.Outlet) -> OutletDetails {
        var details = OutletDetails(name: Text(outlet.id), currency: Currency("EUR")!, timeZone: Text("UTC"))
        guard let terms = outlet.terms else { return details }
        details.prepMinutes = terms.prepMinutes
        details.acceptWithin = terms.acceptWithin
        details.payment = terms.payWithin == nil ? .none : .first
        details.payWithin = terms.payWithin
        let charges = terms.charges
        func rate(_ thousandths: Int64) -> Rate { Rate(thousandths: Int(thousandths))! }
        func tax(_ id: String?) -> Identifier? { id.flatMap { Identifier($0) } }
        details.pricing.taxIncluded = charges.isTaxIncluded
        details.pricing.taxes = charges.taxes.map { plan in
            var rates = ByService<Rate>()
            for service in terms.services {
                rates[ServiceKind(rawValue: service.name)!] = service.rates[plan.id].map(rate)
            }
            return .init(id: tax(plan.id)!, name: Text(plan.name), rate: rate(plan.rate), rates: rates)
        }
        func said(_ charges: Charges) -> PricingTerms.Charges {
            .init(
                service: charges.service.map { .init(rate: rate($0.rate), tax: tax($0.tax)) },
                delivery: charges.delivery.map { fee in
                    .init(
                        Amount(minorUnits: fee.amount), freeFrom: fee.freeFrom.map { Amount(minorUnits: $0) },
                        tax: tax(fee.tax))
                })
        }
        details.pricing.charges = said(charges)
        for service in terms.services {
            details.services[ServiceKind(rawValue: service.name)!] = OfferedService(
                charges: service.charges.map(said), prepMinutes: service.prepMinutes,
                requirements: service.needsTable ? [.table] : [])
        }
        return details
    }

    /// An order was placed at a kitchen.
    func place(_ order: Identifier, _ placement: Order.Placement) {
        record(order, .place(placement))
    }

    /// The time of an order that has to be accepted or paid has passed.
    package func passTime(of order: String) -> Bool {
        let before = now
        (id, now) = ("", kitchenOrders[order]?.state.book?.deadline ?? now)
        defer { now = before }
        return record(Identifier(order)!, .meetDeadline(now: now)) == nil
    }

    /// Answers a step.
    func answer(_ step: OrderStep, of order: String) -> Reply {
        let command: Order.Command =
            switch step {
            case .accept(let time): .accept(readyBy: time.flatMap { Timestamp(rfc3339: $0) }, now: now)
            case .reject(let code, _): .reject(.init(rawValue: code)!, text: nil)
            case .prepare: .prepare
            case .ready: .ready
            case .complete: .complete
            case .delay(let time): .delay(readyBy: Timestamp(rfc3339: time)!, now: now)
            case .cancel(let party, let code, _):
                .cancel(by: .init(rawValue: party)!, .init(rawValue: code)!, text: nil)
            case .pay(let reference, let kind, let minor, let parent):
                .reportPayment(
                    .init(
                        reference: Text(reference), .init(rawValue: kind)!, Amount(minorUnits: minor),
                        of: parent.map { .report(Text($0)) } ?? .own), now: now)
            case .refund(.rest, let code): .refund(.rest, .init(rawValue: code)!)
            case .refund(.amount(let minor), let code):
                .refund(.amount(Amount(minorUnits: minor)), .init(rawValue: code)!)
            case .refund(.units(let line, let quantity), let code):
                .refund(.units(line: Text(line), quantity: quantity), .init(rawValue: code)!)
            case .change(let edits, let party, let seconds):
                .propose(
                    edits.map { edit(of: order, $0) }, by: .init(rawValue: party)!,
                    wait: seconds ?? Order.usualChangeWait, now: now)
            case .agree(let digest): .agree(Text(digest), as: [.merchant, .customer])
            case .decline(let party):
                .decline(as: party.map { [.init(rawValue: $0)!] } ?? [.merchant, .customer])
            case .note: .noteChanges
            }
        if let rejection = record(Identifier(order)!, command) {
            return .error(code: rejection.code.rawValue, message: rejection.message)
        }
        return .integer(kitchenOrders[order]?.version ?? 0)
    }

    /// An edit with what the outlet says of what comes.
    private func edit(of order: String, _ edit: OrderEdit) -> Order.LineEdit {
        func arrival(_ item: Int, _ quantity: Int) -> Order.Arrival {
            let outlet = kitchenOrders[order]!.state.book!.placement.outlet
            let item = Identifier(ItemPlan.id(item))!
            let line = CartLine(id: "", item: item, name: "", quantity: 1, unitPrice: .zero)
            return Order.Arrival(item, quantity: quantity, offer: offers(for: [line], at: outlet)[0])
        }
        return switch edit {
        case .leave(let line, let quantity): .reduce(line: Text(line), to: quantity)
        case .replace(let line, let item, let quantity):
            .replace(line: Text(line), to: 0, by: arrival(item, quantity))
        case .add(let item, let quantity): .add(arrival(item, quantity))
        }
    }

    /// Decides a command and records what comes of it. Returns why it was refused.
    @discardableResult
    private func record(_ order: Identifier, _ command: Order.Command) -> Rejection? {
        var kept = kitchenOrders[order.rawValue] ?? KitchenOrder()
        do {
            for event in try Order.decide(command, in: kept.state) {
                try Order.evolve(&kept.state, event)
                kept.version += 1
                let (kind, payload) = EventCodec.encode(.order(event))
                let fields = try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
                append("order-\(order.rawValue)", kind.name, fields ?? [:])
                try projection.apply(
                    DecodedEvent(
                        partition: 0, position: Int64(events.count), stream: StreamName(.order, order),
                        version: kept.version, event: .order(event), metadata: .none, recordedAt: now))
            }
        } catch let rejection as Rejection {
            return rejection
        } catch {
            preconditionFailure("\(error)")
        }
        kitchenOrders[order.rawValue] = kept
        return nil
    }

    /// What `ORDER.GET` answers; nil where nobody cooks.
    package func order(_ id: String) -> [UInt8]? {
        guard let kept = kitchenOrders[id], let book = kept.state.book else { return nil }
        return OrderDocument.bytes(
            of: Identifier(id)!, book: book, version: kept.version, updatedAt: now, texts: .none)
    }

    /// What `KITCHEN` answers.
    package func kitchen(_ outlet: Int) -> [UInt8] {
        let id = Identifier(world.outlets[outlet].id)!
        let all = projection.kitchen(of: id).sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
        return KitchenDocument.bytes(of: id, all.map(\.whole), count: all.count, isFollowed: true, now: now) { _ in
            .none
        }
    }

    /// What `ORDERS` answers. A cursor is the position of the last order.
    package func orders(_ list: Call.OrderList) -> [UInt8] {
        let filter = OrderFilter(
            outlet: Identifier(world.outlets[list.outlet].id)!, customer: nil,
            statuses: Set(list.statuses.map { Order.Status(rawValue: $0)! }))
        var (position, patience) = (list.after.flatMap { Int64($0) } ?? .max, Int.max)
        var rows: [OrderRow] = []
        while case .order(let row) = projection.newest(filter, before: position, patience: &patience) {
            if rows.count == list.count { return OrderPageDocument.bytes(of: rows, next: "\(position)") }
            rows.append(row)
            position = row.position
        }
        return OrderPageDocument.bytes(of: rows, next: nil)
    }

    /// What `CART.QUOTE` answers.
    func quote(of cart: CartID, _ state: Cart.State, version: Int) -> [UInt8] {
        QuoteDocument.bytes(
            of: Identifier(world.cartName(cart))!, state: state, version: Int64(version), texts: .none,
            offers: { self.offers(for: $0, at: $1.outlet) }, promotions: promotions(for:of:),
            details: { self.details(at: $0.outlet) })
    }

    /// What an outlet takes off lines by itself.
    func promotions(for lines: [CartLine], of cart: Cart.Contents) -> [Promotion.Candidate] {
        let terms = world.outlets.first { $0.id == cart.outlet.rawValue }?.terms?.charges.promotion
        return terms.map { terms in
            let promotion = Promotion(
                id: Identifier(terms.id)!, title: Text(terms.title), on: .order,
                .percent(Rate(thousandths: Int(terms.percent))!), minimum: Amount(minorUnits: terms.minimum))
            return [Promotion.Candidate(promotion, lines: lines.map { _ in true })]
        } ?? []
    }

    func details(at outlet: Identifier) -> OutletDetails? {
        world.outlets.first { $0.id == outlet.rawValue }.map(details(of:))
    }
}
