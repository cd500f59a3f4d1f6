internal import CommandHandling
internal import Domain
internal import EventLog
internal import Projections
internal import TextFormats
internal import Users

/// What customers do: carts.
enum CartCommands {
    static let all: [Command] = [
        Command(
            "CART.ADD", .carts, role: .customer, effect: .write(.cart),
            refusing: [.closed, .soldOut, .noSlot, .choice, .wrongOutlet],
            "Adds some of an item to a cart; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            let quantity = parameters.required("quantity", .quantity.accepting("from 1 to \(MenuItem.quantityLimit)"))
            let options = parameters.option("OPTIONS", "options", .options)
            let note = parameters.option("NOTE", "text", .note)
            let customer = parameters.option("CUSTOMER", "customer", .customer)
            let wanted = parameters.option("FOR", "time", .time)
            return { service, call throws(Failure) in
                let stream = StreamName(.cart, try call[cart])
                let options = try call[options] ?? []
                let (outlet, item, quantity) = (try call[outlet], try call[item], try call[quantity])
                let (text, wanted) = (try call[note], try call[wanted])
                func add(
                    _ note: PersonalText?, of customer: Identifier?, _ state: AggregateState
                ) -> DomainCommand {
                    let contents = state.cart?.contents
                    let choice = wanted.map { wanted in
                        let details = service.details(of: outlet, at: wanted)
                        let kind = contents?.service ?? details?.services.kinds.first
                        return service.choice(kind ?? .pickup, table: contents?.table, wanted, outlet, details)
                    }
                    return .cart(
                        .add(
                            Cart.Addition(
                                outlet: outlet, item: item, quantity: quantity, note: note, customer: customer,
                                offer: service.offer(
                                    of: item, with: options, at: outlet, as: contents?.service,
                                    wanted: wanted ?? contents?.wanted),
                                choice: choice)))
                }
                guard let customer = try call[customer] else {
                    return try service.submit(stream, call) { state, _ in
                        add(text.map(PersonalText.plain), of: nil, state)
                    }
                }
                return try service.submit(stream, call, of: customer, sealing: text, in: note, as: .note) {
                    note, state, _ in add(note.map(PersonalText.sealed), of: customer, state)
                }
            }
        },
        Command(
            "CART.SET", .carts, role: .customer, effect: .write(.cart),
            "Sets a line's quantity, and removes the line for 0; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let line = parameters.required("line", .text)
            let quantity = parameters.required("quantity", .quantity.accepting("from 0 to \(MenuItem.quantityLimit)"))
            return { service, call throws(Failure) in
                let (line, quantity) = (try call[line], try call[quantity])
                return try service.submit(StreamName(.cart, try call[cart]), call) { state, _ in
                    let maximum = state.cart?.maximum(ofLine: line, offers: service.offers(for:of:))
                    return .cart(
                        .set(line: line, quantity: quantity, maximum: maximum ?? MenuItem.quantityLimit))
                }
            }
        },
        Command(
            "CART.REMOVE", .carts, role: .customer, effect: .write(.cart), "Removes a line; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let line = parameters.required("line", .text)
            return { service, call throws(Failure) in
                let line = try call[line]
                return try service.submit(StreamName(.cart, try call[cart]), call) { _, _ in
                    .cart(.remove(line: line))
                }
            }
        },
        Command(
            "CART.EDIT", .carts, role: .customer, effect: .write(.cart),
            refusing: [.closed, .soldOut, .noSlot, .choice],
            "Changes a line's options or note, at today's price; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let line = parameters.required("line", .text)
            let options = parameters.option("OPTIONS", "options", .options)
            let note = parameters.option("NOTE", "text", .note)
            let customer = parameters.option("CUSTOMER", "customer", .customer)
            return { service, call throws(Failure) in
                let stream = StreamName(.cart, try call[cart])
                let (line, options, text) = (try call[line], try call[options], try call[note])
                guard options != nil || text != nil else {
                    throw Failure(.invalid, "nothing is to be changed: give OPTIONS or NOTE, or both")
                }
                func edit(
                    _ note: PersonalText?, of customer: Identifier?, _ state: AggregateState
                ) -> DomainCommand {
                    var offer = Offer.noItem
                    if let contents = state.cart?.contents, let old = state.cart?.line(line) {
                        offer = service.offer(
                            of: old.item, with: options ?? old.chosen, at: contents.outlet, as: contents.service,
                            wanted: contents.wanted)
                    }
                    return .cart(
                        .edit(
                            Cart.Edit(
                                line: line, note: text == nil ? nil : .some(note), customer: customer, offer: offer)))
                }
                // An empty note is none.
                let given = text.flatMap { $0.isEmpty ? nil : $0 }
                guard let customer = try call[customer] else {
                    return try service.submit(stream, call) { state, _ in
                        edit(given.map(PersonalText.plain), of: nil, state)
                    }
                }
                return try service.submit(stream, call, of: customer, sealing: given, in: note, as: .note) {
                    note, state, _ in edit(note.map(PersonalText.sealed), of: customer, state)
                }
            }
        },
        Command(
            "CART.TIP", .carts, role: .customer, effect: .write(.cart),
            "Sets what the customer gives beside what is charged, 0 for nothing; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let amount = parameters.required("minor", .amount)
            return { service, call throws(Failure) in
                let amount = try call[amount]
                return try service.submit(StreamName(.cart, try call[cart]), call) { _, _ in .cart(.tip(amount)) }
            }
        },
        Command(
            "CART.SERVICE", .carts, role: .customer, effect: .write(.cart),
            refusing: [.closed, .noSlot],
            "Says how a cart's order is to be had, as its outlet offers, and when; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let kind = parameters.required("service", .service)
            let table = parameters.option("TABLE", "text", .text.accepting("1–40 bytes of UTF-8"))
            let wanted = parameters.option("FOR", "time", .time)
            return { service, call throws(Failure) in
                let (kind, table, wanted) = (try call[kind], try call[table], try call[wanted])
                return try service.submit(StreamName(.cart, try call[cart]), call) { state, _ in
                    let outlet = state.cart?.contents?.outlet
                    let details = outlet.flatMap { service.details(of: $0, at: wanted) }
                    return .cart(.chooseService(service.choice(kind, table: table, wanted, outlet, details)))
                }
            }
        },
        Command(
            "CART.CODE", .carts, role: .customer, effect: .write(.cart),
            refusing: [.promo],
            "Says a code of a promotion of the cart's outlet; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let code = parameters.required("code", .text)
            return { service, call throws(Failure) in
                let code = try call[code]
                return try service.submit(StreamName(.cart, try call[cart]), call) { state, _ in
                    let outlet = (state.cart?.contents?.outlet).flatMap { try? service.outlet($0) }
                    let isKnown = outlet?.promotions.knows(code: Promotion.code(code)) ?? false
                    return .cart(.addCode(code, isKnown: isKnown))
                }
            }
        },
        Command(
            "CART.UNCODE", .carts, role: .customer, effect: .write(.cart),
            "Takes back a code; returns the cart's count."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let code = parameters.required("code", .text)
            return { service, call throws(Failure) in
                let code = try call[code]
                return try service.submit(StreamName(.cart, try call[cart]), call) { _, _ in
                    .cart(.removeCode(code))
                }
            }
        },
        Command(
            "CART.QUOTE", .carts, role: .customer,
            answers: QuoteDocument.schema.orNull,
            "Returns what a cart costs now, with taxes, fees and tip, and a digest to check out with, or null."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            return { service, call throws(Failure) in
                let cart = try call[cart]
                return service.document(of: StreamName(.cart, cart), for: call.caller, within: nil) {
                    service.quote(of: cart, $0)
                }
            }
        },
        Command(
            "CART.CLEAR", .carts, role: .customer, effect: .write(.cart),
            "Removes every line; returns the cart's count, 0."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            return { service, call throws(Failure) in
                try service.submit(StreamName(.cart, try call[cart]), call) { _, _ in .cart(.clear) }
            }
        },
        Command(
            "CART.COUNT", .carts, role: .customer,
            "Returns how many items a cart holds: 0 if it is unknown or checked out."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            return { service, call throws(Failure) in
                try service.count(of: try call[cart])
            }
        },
        Command(
            "CART.GET", .carts, role: .customer,
            answers: CartDocument.schema.or(ChangeDocument.ofCart),
            "Returns a cart with its lines and total, now or as of a moment, or what has changed in it, or null."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let version = parameters.option("SINCE", "version", .count)
            let moment = parameters.option("AT", "moment", .moment)
            return { service, call throws(Failure) in
                let (cart, since) = (try call[cart], try call[version])
                if let moment = try service.moment(try call[moment]) {
                    guard since == nil else { throw .syntax("SINCE and AT exclude each other") }
                    return service.past(.cart(cart, at: moment), for: call.caller, within: nil)
                }
                if let since { return service.change(ofCart: cart, since: since, for: call.caller) }
                return service.document(of: StreamName(.cart, cart), for: call.caller, within: nil) {
                    service.document(of: cart, $0)
                }
            }
        },
        Command(
            "CART.CHECKOUT", .carts, role: .customer, effect: .write(.cart),
            answers: .identifier, refusing: [.closed, .soldOut, .noSlot, .choice, .totalChanged, .required, .promo],
            "Places an order for what is in a cart, if it still costs that; returns the order's id."
        ) { parameters in
            let cart = parameters.required("cart", .cart)
            let total = parameters.option("TOTAL", "minor", .amount)
            let quote = parameters.option("QUOTE", "digest", .quoteDigest)
            let name = parameters.option("NAME", "text", .text.accepting("1–200 bytes of UTF-8"))
            let phone = parameters.option("PHONE", "text", .text.accepting("1–40 bytes of UTF-8"))
            let address = parameters.option("ADDRESS", "text", .text.accepting("1–500 bytes of UTF-8"))
            let customer = parameters.option("CUSTOMER", "customer", .customer)
            let missing = parameters.option("MISSING", "what", .missing)
            return { service, call throws(Failure) in
                let (cart, missing) = (try call[cart], try call[missing])
                let texts = [
                    PersonalArgument(try call[name], in: name, as: .name),
                    PersonalArgument(try call[phone], in: phone, as: .phone),
                    PersonalArgument(try call[address], in: address, as: .address),
                ]
                let agreement: Cart.Agreement
                switch (try call[total], try call[quote]) {
                case (let total?, nil): agreement = .total(total)
                case (nil, let quote?): agreement = .quote(quote)
                case (nil, nil):
                    throw Failure(.invalid, "what the customer agrees to is missing: give TOTAL or QUOTE")
                case (_?, _?): throw Failure(.invalid, "TOTAL and QUOTE exclude each other: give one of them")
                }
                let stream = StreamName(.cart, cart)
                func checkOut(
                    _ texts: [SealedText?], of customer: Identifier?, _ state: AggregateState, _ version: Int64
                ) -> DomainCommand {
                    var checkOut = Cart.CheckOut(
                        order: service.partitioning.orderID(cart: cart, version: version), agreement: agreement,
                        of: state.cart ?? .empty, offers: service.offers(for:of:), claims: service.claims(of:at:),
                        promotions: service.promotions(for:of:),
                        details: service.details(for:), hours: service.hours(at: state.cart?.contents?.outlet),
                        now: service.now)
                    checkOut.customer = customer
                    if let missing { checkOut.missing = missing }
                    checkOut.name = texts[0]
                    checkOut.handover.phone = texts[1]
                    checkOut.handover.address = texts[2]
                    return .cart(.checkOut(checkOut))
                }
                guard let customer = try call[customer] else {
                    if let text = texts.first(where: { $0.text != nil }) {
                        throw .invalid(
                            text.parameter.field,
                            "needs CUSTOMER: personal data is only taken where it can be forgotten")
                    }
                    return service.concluded(
                        try service.submit(stream, call) { checkOut([nil, nil, nil], of: nil, $0, $1) })
                }
                return service.concluded(
                    try service.submit(stream, call, of: customer, sealing: texts) {
                        checkOut($0, of: customer, $1, $2)
                    })
            }
        },
    ]
}

extension Service {
    /// A choice of how an order is to be had, and when.
    fileprivate func choice(
        _ kind: ServiceKind, table: Text?, _ wanted: Timestamp?, _ outlet: Identifier?, _ details: OutletDetails?
    ) -> Cart.ServiceChoice {
        var choice = Cart.ServiceChoice(kind, table: table, wanted: wanted, offered: details?.services.kinds ?? [])
        choice.refusal = details?.refusal(of: wanted, for: kind, hours(at: outlet))
        return choice
    }
}

extension AggregateState {
    fileprivate var cart: Cart.State? {
        if case .cart(let state) = self { state } else { nil }
    }
}
