internal import EventLoop
internal import LineClient
internal import LineProtocol

/// Reads the log from where it stood before the run, and looks whether it explains every acknowledgement: each
/// command that changed something is there once, none that was refused is, and folding a cart's events gives what
/// its customer was told.
@LoopActor
struct LogAudit {
    /// Events that are asked for at once, and questions on their way.
    private static let page = 1_000
    private static let ahead = 2

    /// A cart as its events have it.
    private struct Folded {
        var version: Int64 = 0
        var count = 0
    }

    struct Finding {
        var violation: Violation
        /// The stream whose events belong to the history that shows it.
        var stream: String?
        /// What was told to whom.
        var history: [String] = []
    }

    private struct Order {
        var cart: CartID
        var total: Int64
    }

    private let run: Run
    private var carts: [CartID: Folded] = [:]
    private var orders: [String: Order] = [:]
    /// Of outlets and menus.
    private var versions: [String: Int64] = [:]
    /// Streams that something was found of: one mistake has many consequences.
    private var accused: Set<String> = []
    private(set) var findings: [Finding] = []

    init(_ run: Run) {
        self.run = run
    }

    /// Reads everything behind `heads`, one of each partition.
    mutating func read(
        _ client: Client, from heads: [Int64], to ends: [Int64]
    ) async throws {
        for (partition, head) in heads.enumerated() {
            var next = head + 1
            var asked = next
            var pages: [Question] = []
            var pause = PatientPause()
            while next <= ends[partition] {
                while pages.count < LogAudit.ahead, asked <= ends[partition] {
                    let question = Question()
                    let words = [
                        "LOG.READ", "PARTITION", "\(partition)", "FROM", "\(asked)", "COUNT", "\(LogAudit.page)",
                    ]
                    client.send(to: question, tag: 0) { $0.write(words) }
                    client.flush()
                    pages.append(question)
                    asked += Int64(LogAudit.page)
                }
                let reply = try await client.answer(to: pages.removeFirst())
                if case .error(let code, _) = reply, Oracle.inability(code) != nil, await pause.next() {
                    for page in pages { _ = try await client.answer(to: page) }
                    (pages, asked) = ([], next)
                    continue
                }
                guard case .array(let events) = reply, !events.isEmpty else {
                    throw UnexpectedReply(command: "LOG.READ", reply: reply.summary)
                }
                for event in events {
                    guard let bytes = event.bytes, let event = LogEvent(bytes) else {
                        throw UnexpectedReply(command: "LOG.READ", reply: event.summary)
                    }
                    guard event.position <= ends[partition] else { break }
                    take(event, expected: next)
                    next = event.position + 1
                }
            }
        }
    }

    private mutating func found(_ message: String, _ stream: String?, _ history: [String] = []) {
        guard findings.count < Run.keptViolations else { return }
        if let stream, !accused.insert(stream).inserted { return }
        findings.append(Finding(violation: Violation(.log, message), stream: stream, history: history))
    }

    /// Looks at the event that comes next; `position` is what it should have.
    mutating func take(_ event: LogEvent, expected position: Int64) {
        run.oracle.count(.log)
        if event.position != position {
            found("position \(position) of the log is missing; \(event.position) follows", nil)
        }
        guard let dash = event.stream.firstIndex(of: "-") else { return }
        let id = event.stream[event.stream.index(after: dash)...]
        switch event.stream[..<dash] {
        case "cart":
            if let cart = run.world.cart(ofStream: id) {
                fold(event, cart)
                look(event, isOnce: true)
            }
        case "order":
            if let cart = event.payload.cart.flatMap({ run.world.cart(ofStream: $0[...]) }) {
                if orders[String(id)] != nil || event.version != 1 {
                    found("order \(id) is in the log twice", event.stream)
                }
                orders[String(id)] = Order(cart: cart, total: event.payload.total ?? 0)
            }
        case "outlet", "menu":
            if id.hasPrefix("\(run.world.name)-o") {
                let version = versions[event.stream, default: 0]
                if event.version != version + 1 {
                    found("\(event.stream) goes from version \(version) to \(event.version)", event.stream)
                }
                versions[event.stream] = event.version
                // Only a whole menu makes several events.
                look(event, isOnce: !["menu.sectionAdded", "menu.itemAdded"].contains(event.kind))
            }
        default: break
        }
    }

    /// Looks up the command that the event comes from.
    private mutating func look(_ event: LogEvent, isOnce: Bool) {
        let numbers = event.id?.split(separator: "-").compactMap { Int($0) } ?? []
        guard numbers.count == 2, run.shoppers.indices.contains(numbers[0]) else {
            return found(
                "\(event.kind) at \(event.position) has no command of ours: nobody else knows \(event.stream)",
                event.stream)
        }
        let writes = run.shoppers[numbers[0]].writes
        switch writes.fate(numbers[1]) {
        case .recorded, .unsure: break
        case .nothing:
            found(
                "\(event.kind) at \(event.position) is of command \(numbers[0])-\(numbers[1]), which was refused or "
                    + "answered as having nothing to do", event.stream)
        case nil:
            return found("\(event.kind) at \(event.position) is of a command that was never sent", event.stream)
        }
        if writes.see(numbers[1]), isOnce {
            found("command \(numbers[0])-\(numbers[1]) is in \(event.stream) twice", event.stream)
        }
    }

    private mutating func fold(_ event: LogEvent, _ id: CartID) {
        var cart = carts[id] ?? Folded()
        if event.version != cart.version + 1 {
            found("\(event.stream) goes from version \(cart.version) to \(event.version)", event.stream)
        }
        cart.version = event.version
        let payload = event.payload
        switch event.kind {
        case "cart.itemAdded": cart.count += Int(payload.quantity)
        case "cart.quantityChanged": cart.count += Int(payload.to - payload.from)
        case "cart.lineRemoved": cart.count -= Int(payload.quantity)
        case "cart.cleared": cart.count = 0
        default: break
        }
        carts[id] = cart
    }

    /// What the log has has to be everything that was acknowledged.
    mutating func finish() {
        for (index, shopper) in run.shoppers.enumerated() where shopper.writes.count > 0 {
            for number in shopper.writes.unseen {
                let told = shopper.writes.recorded(number)
                found(
                    "command \(index)-\(number) was acknowledged, and the log does not have it",
                    told?.flight.call.stream(run.world),
                    told.map { ["\($0.flight.call.summary(run.world)) ID \(index)-\(number) → \($0.reply.summary)"] }
                        ?? [])
            }
        }
        for (id, told) in run.told {
            run.oracle.count(.log)
            let folded = carts[id] ?? Folded()
            if folded.version != told.version || folded.count != told.count {
                let stream = "cart-\(run.world.cartName(id))"
                found(
                    "\(stream) has \(folded.version) events and a count of \(folded.count); acknowledged were "
                        + "\(told.version) and \(told.count)", stream)
            }
            if let order = told.order, orders[order]?.total != told.total || orders[order]?.cart != id {
                found(
                    "order \(order) is in the log "
                        + (orders[order].map { "of cart \(run.world.cartName($0.cart)), with a total of \($0.total)" }
                            ?? "not at all") + "; agreed was \(told.total)", "order-\(order)")
            }
        }
        for (order, placed) in orders {
            guard let told = run.told[placed.cart], told.order != order else { continue }
            found(
                "order \(order) of cart \(run.world.cartName(placed.cart)) was placed, and nobody told",
                "order-\(order)")
        }
        for outlet in run.world.outlets where run.shoppers[outlet.owner].isIdle {
            for (stream, told) in [
                ("outlet-\(outlet.id)", outlet.outletVersion), ("menu-\(outlet.id)", outlet.menuVersion),
            ] {
                run.oracle.count(.log)
                let version = versions[stream, default: 0]
                if version != told {
                    found("\(stream) has \(version) events, and its owner was told of version \(told)", stream)
                }
            }
        }
    }
}
