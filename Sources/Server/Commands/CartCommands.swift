internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import LineProtocol
internal import Projections

/// What customers do: carts and orders.
enum CartCommands {
    static let all: [Command] = [
        Command(
            "CART.ADD", .carts, role: .customer, effect: .write(.cart),
            "Adds some of an item to a cart; gives the cart's count.",
            [
                .key("cart"), .value("outlet"), .value("item"), .value("quantity", .integer),
                .optional("text", token: "NOTE"), .optional("customer", token: "CUSTOMER"),
            ]
        ) { session, arguments throws(Failure) in
            let cart = try arguments[1].identifier("cart")
            let outlet = try arguments[2].identifier("outlet")
            let item = try arguments[3].identifier("item")
            let quantity = try arguments[4].quantity("quantity")
            let options = try CallOptions(ofWrite: arguments, from: 5, "NOTE", "CUSTOMER")
            let note = try options.text("NOTE")
            let engine = session.server.engine
            func add(_ note: PersonalText?, of customer: Identifier?) -> DomainCommand {
                .cart(
                    .add(
                        Cart.Addition(
                            outlet: outlet, item: item, quantity: quantity, note: note, customer: customer,
                            offer: LoopActor.assumeIsolated { engine.offer(of: item, at: outlet) })))
            }
            let stream = StreamName(.cart, cart)
            guard let customer = try options.identifier("CUSTOMER") else {
                return try session.submit(stream, arguments, options) { _, _ in
                    add(note.map(PersonalText.plain), of: nil)
                }
            }
            try note?.check("NOTE", TextRules.note)
            try session.submit(stream, arguments, options, of: customer, sealing: note, in: "NOTE", as: .note) { note in
                { _, _ in add(note.map(PersonalText.sealed), of: customer) }
            }
        },
        Command(
            "CART.SET", .carts, role: .customer, effect: .write(.cart),
            "Sets a line's quantity, 0 removes it; gives the count.",
            [.key("cart"), .value("line"), .value("quantity", .integer)]
        ) { session, arguments throws(Failure) in
            let line = try arguments[2].line()
            let quantity = try arguments[3].quantity("quantity")
            let stream = StreamName(.cart, try arguments[1].identifier("cart"))
            let engine = session.server.engine
            try session.submit(stream, arguments, try CallOptions(ofWrite: arguments, from: 4)) { state, _ in
                let maximum = LoopActor.assumeIsolated { engine.maximum(of: line, in: state) }
                return .cart(.set(line: line, quantity: quantity, maximum: maximum))
            }
        },
        Command(
            "CART.REMOVE", .carts, role: .customer, effect: .write(.cart), "Removes a line; gives the count.",
            [.key("cart"), .value("line")]
        ) { session, arguments throws(Failure) in
            try session.submitCart(.remove(line: try arguments[2].line()), arguments, optionsFrom: 3)
        },
        Command(
            "CART.CLEAR", .carts, role: .customer, effect: .write(.cart), "Removes every line; gives the count, 0.",
            [.key("cart")]
        ) { session, arguments throws(Failure) in
            try session.submitCart(.clear, arguments, optionsFrom: 2)
        },
        Command(
            "CART.COUNT", .carts, role: .customer,
            "Gives how many items a cart holds: 0 if it is unknown or checked out.",
            [.key("cart")]
        ) { session, arguments throws(Failure) in
            let count = try session.server.engine.count(of: try arguments[1].identifier("cart"))
            session.reply { $0.integer(Int64(count)) }
        },
        Command(
            "CART.GET", .carts, role: .customer,
            "Gives a cart with its lines and total, now or as of a moment, or null.",
            [.key("cart"), .optional("moment", token: "AT")]
        ) { session, arguments throws(Failure) in
            let cart = try arguments[1].identifier("cart")
            let engine = session.server.engine
            if arguments.count > 2, let moment = try session.moment(arguments) {
                return session.replyLater(withPast: .cart(cart, at: moment))
            }
            session.replyLater(with: StreamName(.cart, cart)) { committed in
                LoopActor.assumeIsolated { engine.document(of: cart, committed) }
            }
        },
        Command(
            "CART.CHECKOUT", .carts, role: .customer, effect: .write(.cart),
            "Places an order for what is in a cart, if it still costs that; gives the order's id.",
            [
                .key("cart"), .required("minor", .integer, token: "TOTAL"), .optional("text", token: "NAME"),
                .optional("customer", token: "CUSTOMER"),
            ]
        ) { session, arguments throws(Failure) in
            let cart = try arguments[1].identifier("cart")
            let options = try CallOptions(ofWrite: arguments, from: 2, "TOTAL", "NAME", "CUSTOMER")
            guard let total = try options["TOTAL"]?.amount("TOTAL") else { throw .syntax }
            let name = try options.text("NAME")
            let customer = try options.identifier("CUSTOMER")
            let engine = session.server.engine
            func checkOut(_ name: SealedText?, _ state: AggregateState, _ version: Int64) -> DomainCommand {
                LoopActor.assumeIsolated {
                    var checkOut = engine.checkOut(of: cart, in: state, version: version, agreedTotal: total)
                    checkOut.customer = customer
                    checkOut.name = name
                    return .cart(.checkOut(checkOut))
                }
            }
            let stream = StreamName(.cart, cart)
            guard let customer else {
                guard name == nil else {
                    throw .invalid("NAME", "needs CUSTOMER: personal data is only taken where it can be forgotten")
                }
                return try session.submit(stream, arguments, options) { checkOut(nil, $0, $1) }
            }
            try name?.check("NAME", TextRules.name)
            try session.submit(stream, arguments, options, of: customer, sealing: name, in: "NAME", as: .name) { name in
                { checkOut(name, $0, $1) }
            }
        },
        Command(
            "ORDER.GET", .carts, role: .customer, "Gives an order, now or as of a moment, or null.",
            [.key("order"), .optional("moment", token: "AT")]
        ) { session, arguments throws(Failure) in
            let order = try arguments[1].identifier("order")
            if arguments.count > 2, let moment = try session.moment(arguments) {
                return session.replyLater(withPast: .order(order, at: moment))
            }
            session.replyLater(with: StreamName(.order, order)) { SealedDocument(of: order, $0) }
        },
    ]
}

extension Session {
    fileprivate func submitCart(
        _ command: Cart.Command, _ arguments: Arguments, optionsFrom index: Int
    ) throws(Failure) {
        let stream = StreamName(.cart, try arguments[1].identifier("cart"))
        try submit(stream, arguments, try CallOptions(ofWrite: arguments, from: index)) { _, _ in .cart(command) }
    }

    /// The moment that a question is about, where it is not this one.
    fileprivate func moment(_ arguments: Arguments) throws(Failure) -> Archive.Moment? {
        try CallOptions(ofRead: arguments, from: 2, "AT").moment("AT", now: server.engine.clock())
    }

    /// Answers with a document of a stream's committed state, or null, as soon as the stream is known.
    fileprivate func replyLater(
        with stream: StreamName, document: @escaping (CommittedState) -> SealedDocument?
    ) {
        let promise = promise(about: stream.category)
        server.engine.read(stream) { [self] result in
            LoopActor.assumeIsolated {
                switch result {
                case .success(let committed):
                    give(committed.version > 0 ? document(committed) : nil, promise)
                case .failure(let failure):
                    promise.fail(Failure(failure))
                }
            }
        }
    }
}

extension Engine {
    /// The most that a line of a cart takes, where the catalogue still has its item.
    fileprivate func maximum(of line: String, in state: AggregateState) -> Int {
        guard case .cart(.filled(let contents)) = state, let line = contents.lines.first(where: { $0.id == line }),
            case .available(let item) = offer(of: line.item, at: contents.outlet)
        else { return MenuItem.quantityLimit }
        return item.maxQuantity
    }

    /// A checkout with what the catalogue says now of everything in the cart.
    fileprivate func checkOut(
        of cart: Identifier, in state: AggregateState, version: Int64, agreedTotal: Amount
    ) -> Cart.CheckOut {
        var checkOut = Cart.CheckOut(
            order: Partitioning.orderID(cart: cart, version: version), agreedTotal: agreedTotal, offers: [:])
        if case .cart(.filled(let contents)) = state {
            checkOut.minimumOrder = (try? outlet(contents.outlet))?.details?.details.minimumOrder
            for line in contents.lines { checkOut.offers[line.id] = offer(of: line.item, at: contents.outlet) }
        }
        return checkOut
    }
}

extension String {
    /// Refuses a text out of bounds before it is sealed.
    fileprivate func check(_ field: String, _ bounds: ClosedRange<Int>) throws(Failure) {
        do throws(Rejection) {
            try TextRules.check(self, field, bounds)
        } catch {
            throw Failure(error)
        }
    }
}

extension Argument {
    /// The argument as a line's id: what is none names no line.
    fileprivate func line() throws(Failure) -> String {
        guard let line = string else { throw .invalid("line", "must be UTF-8") }
        return line
    }
}
