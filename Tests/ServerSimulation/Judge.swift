import Domain
import EventLog
import EventLoop
import LoadOracle

/// Compares what clients were told with the log, and with the logs that older copies have replaced.
@LoopActor
struct Judge {
    /// How long an order may wait, beyond its deadline, without anything that keeps servers from their work, in
    /// nanoseconds.
    static let patience: UInt64 = 4_000_000_000
    /// How much longer where the server that should see to it has a lease, and may be gone.
    private static let leaseTime: UInt64 = 4_000_000_000

    private let world: World
    private let writes: [String: Write]
    private let histories: [History]
    private let log: [RecordedEvent]
    private var hasForked: Bool { histories.count > 1 }

    /// - Parameter lost: the logs that others have replaced. What was answered on one of them held there.
    init(_ world: World, _ record: World.Record, _ lost: [World.Record]) throws {
        self.world = world
        let writes = Dictionary(uniqueKeysWithValues: world.clients.flatMap(\.writes).map { ($0.id, $0) })
        self.writes = writes
        log = record.events
        histories = try ([record] + lost).map { try History($0, writes, world) }
    }

    /// What the log has.
    var tallies: [String: Int] {
        var tallies = histories[0].tallies
        tallies["orders"] = histories[0].orders.count
        return tallies
    }

    func judge() {
        for client in world.clients {
            for write in client.writes { judge(write) }
            for observations in client.observations { judge(observations) }
        }
        for (name, steps) in histories[0].streams where !name.hasPrefix("order-") {
            for step in steps
            where !step.isByItself && step.id.map({ writes[$0] == nil }) ?? (step.position > world.filled) {
                world.violation("nobody asked for position \(step.position) in \(name)")
            }
        }
        for suspicion in world.suspicions
        where !hasForked && !world.mayBeBlind(from: suspicion.from, to: suspicion.to) {
            world.violation(suspicion.text)
        }
        if let reader = world.reader { judge(reader) }
        for (id, stages) in histories[0].orders { judgeDeadlines(of: id, stages) }
        judgeSupplies()
    }

    /// Once all is quiet, whatever was begun has ended.
    private func judgeSupplies() {
        let history = histories[0]
        for (name, steps) in history.streams where name.hasPrefix("cart-") {
            if let begun = steps.last?.cart.begun {
                world.violation("\(name) is still being checked out as order \(begun.order)")
            }
        }
        // What was answered to a checkout that is lost still holds.
        if hasForked { return }
        for outlet in history.misled { world.violation("\(outlet) never said whether its promotion is spent") }
        for outlet in Model.outlets {
            for (order, claims) in history.streams["supply-\(outlet)"]?.last?.supply.held ?? [:] {
                guard let last = history.orders[order]?.last?.life else {
                    world.violation("\(outlet) keeps \(claims) for order \(order), which was never placed")
                    continue
                }
                let kept = last.claims.filter { last.givenBack[$0.key] == nil }
                if claims != kept { world.violation("order \(order) holds \(claims) instead of \(kept)") }
            }
        }
        for (id, stages) in history.orders {
            guard let life = stages.last?.life, !life.claims.isEmpty else { continue }
            let supply = history.streams["supply-\(life.order.outlet)"]?.last?.supply
            if supply?.held[id] == nil { world.violation("order \(id) has \(life.claims), which it never got") }
            if !life.givenBack.isEmpty, !life.hasReturned {
                world.violation("order \(id) never gave back \(life.givenBack)")
            }
        }
    }

    /// What was passed on is the whole log, in order. Only what was passed when the reader was killed comes again.
    private func judge(_ reader: Reader) {
        var last: Int64 = 0
        for (index, event) in reader.passed.enumerated() {
            let isRepeated = index + 1 < reader.passed.count && reader.passed[index + 1].position == event.position
            // What came again may have been lost in between, with another event in its place.
            if hasForked, isRepeated { continue }
            guard event.position == last + 1 || event.position == last && !hasForked, event.position <= log.count else {
                return world.violation("position \(event.position) was passed on after \(last)")
            }
            let recorded = log[Int(event.position) - 1]
            let mark = "\(recorded.stream)@\(recorded.version) \(recorded.kind.name) \(recorded.recordedAt.rfc3339)"
            if event.mark != mark {
                world.violation("\(event.mark) was passed on as position \(last) instead of \(mark)")
            }
            last = event.position
        }
        if last != log.count { world.violation("\(last) of \(log.count) events were passed on") }
    }

    // MARK: Writes

    private func judge(_ write: Write) {
        var isInLog = false
        for (index, history) in histories.enumerated() {
            let count = count(of: write, in: history)
            if count > 1 { world.violation("\(write.id) was applied \(count) times") }
            if index == 0 { isInLog = count > 0 }
            if count > 0, !write.wasAllowed { world.violation("\(write.id) was done, and was never allowed") }
        }
        for reply in write.replies where !histories.contains(where: { explains(reply, to: write, $0) }) {
            world.violation("\(write.id) on \(write.stream) was answered \(reply), which the log does not explain")
        }
        for order in write.orders {
            let isKnown = histories.contains { history in
                // Where a log was lost, the same cart may have been checked out again, as the same order.
                self.write(ofOrder: order, write.stream, history).map { hasForked || $0.id == write.id } ?? false
            }
            if !isKnown { world.violation("\(write.id) was answered with order \(order), which the log does not have") }
        }
        if isInLog, !write.isAnswered, !write.errors.isEmpty, !write.errors.contains(where: { $0.code == "UNKNOWN" }),
            !write.isInDoubt, !write.wasLost
        {
            world.violation("\(write.id) was refused with \(write.errors), and done")
        }
        judgeRefusals(of: write)
        judgeAbsence(for: write)
        judgeScarcity(for: write)
    }

    /// The write that placed an order.
    private func write(ofOrder order: String, _ cart: String, _ history: History) -> Write? {
        guard let steps = history.streams[cart], let end = steps.last(where: { $0.cart.order == order }) else {
            return nil
        }
        guard let begun = steps.last(where: { $0.cart.begun?.order == order })?.cart.begun else {
            return end.id.flatMap { writes[$0] }
        }
        return begun.write
    }

    /// Something is only said to be sold out or spent if it was.
    private func judgeScarcity(for write: Write) {
        let outlet: String
        switch write.action {
        case .add, .checkOut: outlet = Model.outlet(of: String(write.stream.dropFirst("cart-".count)))
        default: return
        }
        for error in write.errors where ["SOLDOUT", "PROMO"].contains(error.code) {
            func mayBe(_ position: Int64) -> Bool { hasForked || position <= error.head }
            // What was begun in a log that is lost may have gone on in the one after it.
            let orders = histories.flatMap { $0.streams[write.stream] ?? [] }.compactMap { step in
                step.id == write.id ? step.cart.begun?.order : nil
            }
            let isExplained = histories.contains { history in
                let sellings = (history.sellings[outlet] ?? []).filter { mayBe($0.position) }.map(\.selling)
                if case .add(let choice, _) = write.action { return sellings.contains { !$0.has(choice) } }
                return error.code == "SOLDOUT" && sellings.contains { !$0.soldOut.isEmpty }
                    || (history.streams["supply-\(outlet)"] ?? []).contains { step in
                        mayBe(step.position) && orders.contains { step.supply.refused[$0] == error.code }
                    }
            }
            if !isExplained {
                world.violation("\(write.id) on \(write.stream) was refused with \(error.code), never so")
            }
        }
    }

    /// An outlet is only said not to be there once it was removed.
    private func judgeAbsence(for write: Write) {
        let name = String(write.stream.split(separator: "-", maxSplits: 1)[1])
        let outlet: String
        switch write.action {
        case .add, .checkOut: outlet = Model.outlet(of: name)
        case .open, .close, .hide, .show, .price, .stock, .promote: outlet = name
        case .clear, .tip, .remove, .order, .change: return
        }
        for error in write.errors where error.code == "NOTFOUND" {
            if !histories.contains(where: { wasRemoved(outlet, $0, error.head) }) {
                world.violation("\(write.id) on \(write.stream) was refused with NOTFOUND, and \(outlet) was there")
            }
        }
    }

    /// How often a write was applied. One command may be several events of an order.
    private func count(of write: Write, in history: History) -> Int {
        guard let order = write.order else {
            let steps = history.streams[write.stream] ?? []
            guard case .checkOut = write.action else { return steps.count { $0.id == write.id } }
            // After a refusal it is decided anew, if it is sent again.
            return steps.indices.count { index in
                let cart = steps[index].cart
                if let begun = cart.begun {
                    return begun.write === write && (index + 1 == steps.count || steps[index + 1].cart.order != nil)
                }
                return steps[index].id == write.id && cart.order != nil
                    && (index == 0 || steps[index - 1].cart.begun == nil)
            }
        }
        return history.orders[order.id]?.count { $0.id == write.id } ?? 0
    }

    private func explains(_ reply: Int64, to write: Write, _ history: History) -> Bool {
        if let order = write.order {
            return history.orders[order.id]?.contains { stage in
                guard stage.state.version == reply else { return false }
                if stage.id == write.id { return true }
                switch write.action {
                case .order(let step, _): return stage.life.outcome(of: step) == .same
                case .change(let step, _): return stage.life.isSame(step)
                default: return false
                }
            } ?? false
        }
        let steps = history.streams[write.stream] ?? []
        // What changed nothing answers as things were, and is decided again if it is sent again.
        return steps.contains { $0.reply == reply && (write.mayChangeNothing || $0.id == write.id) }
            || write.mayChangeNothing && reply == 0
    }

    /// A command about an order is refused only if the order was in a state that refuses it.
    private func judgeRefusals(of write: Write) {
        guard let order = write.order else { return }
        for error in write.errors where !["UNKNOWN", "UNAVAILABLE", "BUSY", "NOPERM", "FORGOTTEN"].contains(error.code)
        {
            let isExplained = histories.contains { history in
                let all = history.orders[order.id] ?? []
                // It was so at some moment since it was sent, as far as the server could know.
                let stages = all.indices.filter { index in
                    let isOver = index + 1 < all.count && knownEverywhere(all[index + 1].time) < error.sentAt
                    return hasForked || all[index].position <= error.head && !isOver
                }.map { all[$0] }
                switch write.action {
                case .order(let step, _):
                    return stages.contains { $0.life.outcome(of: step) == .refused(code: error.code) }
                case .change(let step, _):
                    return stages.contains { $0.life.mayRefuse(step, with: error.code, write.roles) }
                        || mayRefuse(step, of: order, with: error, history)
                default: return false
                }
            }
            if !isExplained, error.code != "NOTFOUND" || !mayBeUnknown(order.id, error.sentAt) {
                world.violation("\(write.id) on \(write.stream) was refused with \(error.code), never so")
            }
        }
    }

    /// By when what was decided at a time must be known to every server. In a fleet, the one that decides knows it; others
    /// read the log as soon as nothing keeps them from it.
    private func knownEverywhere(_ time: UInt64) -> UInt64 {
        world.hasFleet ? time + Judge.patience / 4 : world.lastTrouble(after: time) + Judge.patience
    }

    /// Whether what the catalogue said, or what was counted, may have been why a change was refused.
    private func mayRefuse(_ step: ChangeStep, of order: KnownOrder, with error: Refusal, _ history: History) -> Bool {
        guard case .propose(let edits, _, _) = step, !edits.arrivals.isEmpty else { return false }
        func mayBe(_ position: Int64) -> Bool { hasForked || position <= error.head }
        switch error.code {
        case "CHOICE": return edits.arrivals.contains(where: \.choice.isTooMuch)
        case "NOTFOUND": return wasRemoved(order.outlet, history, error.head)
        case "CLOSED":
            return history.streams["outlet-\(order.outlet)"]?.contains { mayBe($0.position) && !$0.outlet.isOpen }
                ?? false
        case "SOLDOUT":
            return history.sellings[order.outlet]?.contains { position, selling in
                mayBe(position) && edits.arrivals.contains { !selling.has($0.choice) }
            } ?? false
        case "STATE":
            return history.streams["supply-\(order.outlet)"]?.contains { step in
                mayBe(step.position)
                    && edits.arrivals.contains { $0.choice.claims(1).contains { step.supply.left[$0.key] != nil } }
            } ?? false
        default: return false
        }
    }

    /// Whether a server may not have read yet that an order was placed when it was asked about it.
    private func mayBeUnknown(_ order: String, _ time: UInt64) -> Bool {
        histories.contains { history in
            history.orders[order].map { time < world.lastTrouble(after: $0[0].time) + Judge.patience } ?? hasForked
        }
    }

    // MARK: Deadlines

    /// What is to happen by itself happens soon after its time, unless something keeps the servers from it.
    private func judgeDeadlines(of id: String, _ stages: [History.Stage]) {
        let patience = Judge.patience + (world.hasFleet ? Judge.leaseTime : 0)
        for (index, stage) in stages.enumerated() {
            guard let due = stage.life.deadline.flatMap(world.time(of:)) else { continue }
            let end = index + 1 < stages.count ? stages[index + 1].time : world.now
            let since = world.lastTrouble(after: max(due, stage.time), before: end, patience: patience)
            if end > since, end - since > patience {
                world.violation(
                    "order \(id) was \(stage.state.status), and waited too long: due at \(due), until \(end)")
            }
        }
    }

    // MARK: Reads

    /// What one connection saw: each cart and order goes on from where it was, and only to what the log had.
    private func judge(_ observations: [Client.Observation]) {
        var seen: [String: Int64] = [:]
        // What the server itself has to know: what was written by this connection, and what was in its lists.
        var known: [String: Int64] = [:]
        for observation in observations {
            let subject = observation.subject
            let isBlind = hasForked || world.mayBeBlind(from: observation.sentAt, to: observation.time)
            let floor = isBlind ? 0 : (observation.isOfList && world.hasFleet ? known : seen)[subject] ?? 0
            func wrong(_ what: String) { world.violation("\(subject) \(what), after version \(floor)") }
            switch observation.what {
            case .wrote(let write):
                // What changed nothing when it was answered may have been done later.
                guard !write.mayChangeNothing else { continue }
                let version = carts(observation).first { _, step, _ in
                    write.orders.isEmpty ? step.id == write.id : step.cart.order.map(write.orders.contains) ?? false
                }?.version
                guard let version else {
                    wrong("has not \(write.id), which was answered")
                    continue
                }
                seen[subject] = max(floor, version)
            case .version(let version):
                seen[subject] = max(floor, version)
                known[subject] = max(known[subject] ?? 0, version)
            case .count(let count):
                let versions = carts(observation).filter { $0.step.reply == count && $0.version >= floor }
                guard let version = versions.map(\.version).min() else {
                    wrong("had \(count) items")
                    continue
                }
                seen[subject] = version
            case .cart(let read):
                let isKnown = carts(observation).contains { version, step, _ in
                    version == read.version && version >= floor && step.cart.count == read.count
                        && step.cart.shown.total == read.total && step.cart.shownOrder == read.order
                        && step.cart.status == read.status
                        && step.cart.shown.documents == read.charges && step.cart.tip == read.tip
                        && step.cart.customer == read.customer
                }
                if isKnown { seen[subject] = read.version } else { wrong("was read as \(read)") }
            case .quote(let read):
                let isKnown = carts(observation).contains { version, step, history in
                    guard version == read.version, version >= floor, step.cart.count == read.count,
                        step.cart.shownOrder == read.order
                    else { return false }
                    func isShown(_ bill: Bill) -> Bool { bill.total == read.total && bill.documents == read.charges }
                    if let bill = step.cart.bill ?? step.cart.begun?.after.bill { return isShown(bill) }
                    let outlet = Model.outlet(of: String(subject.dropFirst("cart-".count)))
                    let charges = world.terms[outlet]?.charges ?? Charges()
                    let isGone = read.quote == nil && wasRemoved(outlet, history, observation.head)
                    return (history.sellings[outlet] ?? []).contains { position, selling in
                        guard hasForked || position <= observation.head else { return false }
                        if isShown(step.cart.bill(at: selling, charges)) { return true }
                        // Of what cannot be had now, nobody knows a newer price. An outlet that was removed charges
                        // nothing.
                        return read.quote == nil
                            && (isShown(step.cart.bill(charges, less: selling.openDeal))
                                || isGone && isShown(step.cart.bill(Charges(), less: selling.openDeal)))
                    }
                }
                if isKnown { seen[subject] = read.version } else { wrong("was said to cost \(read)") }
            case .order(_, nil):
                let order = String(subject.dropFirst("order-".count))
                if floor > 0 || !mayBeUnknown(order, observation.sentAt) { wrong("was not known") }
            case .order(let view, let shown?):
                let version = shown["version"]?.integer ?? 0
                let differences = stages(observation).filter { $0.state.version == version && version >= floor }
                    .map { $0.life.difference(in: view, from: shown) }
                if differences.contains(nil) {
                    seen[subject] = max(isBlind ? 0 : seen[subject] ?? 0, version)
                    if observation.isOfList { known[subject] = version }
                } else {
                    wrong("was shown at version \(version) otherwise than it was: \(differences.compactMap(\.self))")
                }
            case .kitchen(let entries):
                let expected = lastStages(of: subject, observation) {
                    $0.order.isFollowed && $0.state.status.isInKitchen
                }
                if Set(entries.map(\.order)) != Set(expected.map(\.order)) || entries.count != expected.count {
                    wrong("has \(entries) in its kitchen instead of \(expected)")
                }
            case .outlet(let status):
                let isKnown = steps(observation).contains { version, step in
                    let outlet = step.outlet
                    let shown = outlet.isHidden || outlet.isRemoved ? nil : outlet.isOpen ? "open" : "closed"
                    return version >= floor && shown == status
                }
                if !isKnown { wrong("was listed as \(status ?? "nothing")") }
            case .nothing:
                let outlet = String(subject.dropFirst("outlet-".count))
                if !histories.contains(where: { wasRemoved(outlet, $0, observation.head) }) { wrong("was not there") }
            case .takings(let read):
                let movements = (histories[0].movements[subject] ?? []).filter { $0.position <= observation.head }
                let expected = TakingsModel(movements.lazy.map(\.movement)).document
                let nothing = TakingsModel([]).document
                let days = World.days.enumerated().map { index, day in
                    var shown = index == 1 ? expected : nothing
                    shown["day"] = JSON(day)
                    return shown
                }
                let found = read["days"]?.array?.map { day in
                    var day = day
                    (day["from"], day["until"]) = (nil, nil)
                    return day
                }
                if read["sum"] != expected || found != days { wrong("took \(read) instead of \(expected)") }
            case .stock(let read, let isQuiet):
                let supplies = [(Int64(0), SupplyModel())] + steps(observation).map { ($0.version, $0.step.supply) }
                let isKnown = supplies.contains { version, supply in
                    guard version == read.version, version >= floor, supply.left == read.left else { return false }
                    return !isQuiet || hasForked || heldBeforeKitchen(supply, read.left, observation.head) == read.held
                }
                if isKnown { seen[subject] = read.version } else { wrong("was shown as \(read)") }
            case .ordersOf(let entries):
                let expected = lastStages(observation) { $0.order.customer == subject }
                if entries != expected { wrong("has orders \(entries) instead of \(expected)") }
            case .orders(let entries):
                let expected = lastStages(of: subject, observation) { _ in true }
                if entries != expected { wrong("has orders \(entries) instead of \(expected)") }
            }
        }
    }

    /// How much of what is counted orders hold that the kitchen has not begun with.
    private func heldBeforeKitchen(_ supply: SupplyModel, _ left: Claims, _ head: Int64) -> Claims {
        var sums = left.mapValues { _ in Int64(0) }
        for (order, claims) in supply.held {
            let stage = histories[0].orders[order]?.last { $0.position <= head }
            guard [.awaitingPayment, .placed, .accepted].contains(stage?.state.status ?? .placed) else { continue }
            for (key, count) in claims where sums[key] != nil { sums[key]! += count }
        }
        return sums
    }

    /// Whether an outlet was removed by then.
    private func wasRemoved(_ outlet: String, _ history: History, _ head: Int64) -> Bool {
        history.streams["outlet-\(outlet)"]?.contains {
            $0.outlet.isRemoved && (hasForked || $0.position <= head)
        } ?? false
    }

    /// The versions of a stream up to then.
    private func steps(_ observation: Client.Observation) -> [(version: Int64, step: History.Step)] {
        histories.flatMap { steps(observation, $0).enumerated().map { (Int64($0.offset) + 1, $0.element) } }
    }

    private func steps(_ observation: Client.Observation, _ history: History) -> [History.Step] {
        (history.streams[observation.subject] ?? []).filter { hasForked || $0.position <= observation.head }
    }

    /// The versions of a cart up to then, from none on.
    private func carts(
        _ observation: Client.Observation
    ) -> [(version: Int64, step: History.Step, history: History)] {
        histories.flatMap { history in
            let steps = steps(observation, history)
            return ([History.Step(position: 0, id: nil, reply: 0)] + steps).enumerated().map { version, step in
                (Int64(version), step, history)
            }
        }
    }

    /// The stages of an order up to then.
    private func stages(_ observation: Client.Observation) -> [History.Stage] {
        let id = String(observation.subject.dropFirst("order-".count))
        return histories.flatMap { $0.orders[id] ?? [] }.filter { hasForked || $0.position <= observation.head }
    }

    /// The orders of an outlet as they are when all is quiet, the newest first.
    private func lastStages(
        of outlet: String, _ observation: Client.Observation, _ isMeant: (History.Stage) -> Bool
    ) -> [OrderReader.Entry] {
        lastStages(observation) { $0.order.outlet == outlet && isMeant($0) }
    }

    private func lastStages(
        _ observation: Client.Observation, _ isMeant: (History.Stage) -> Bool
    ) -> [OrderReader.Entry] {
        let lives = histories[0].orders.values.filter { $0[0].position <= observation.head }
        return lives.sorted { $0[0].position > $1[0].position }.compactMap { stages in
            guard let last = stages.last(where: { $0.position <= observation.head }), isMeant(last) else { return nil }
            return OrderReader.Entry(
                order: last.order.id, version: last.state.version, status: last.state.status.rawValue)
        }
    }
}
