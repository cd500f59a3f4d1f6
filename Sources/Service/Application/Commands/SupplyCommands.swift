internal import CommandHandling
internal import Domain
internal import EventLog
internal import Projections
internal import TextFormats
internal import Users

/// What is counted: what merchants ask, and what servers ask of one another for the orders that take of it.
enum SupplyCommands {
    static let all: [Command] = [
        count("MENU.ITEM.STOCK", "item", Claim.Key.item) { $0.entries[$1] != nil },
        count("MENU.OPTION.STOCK", "option", Claim.Key.option) { $0.groups.option($1) != nil },
        Command(
            "STOCK", .catalogue, role: .merchant,
            answers: StockDocument.schema, refusing: [.notFound],
            "Returns how much is left of what an outlet has counted, and how much orders hold."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                let outlet = try call[outlet]
                guard try service.outlet(outlet) != nil else { throw .noOutlet(outlet) }
                let stock = service.document(of: StreamName(.supply, outlet), for: call.caller, within: nil) {
                    committed in
                    guard case .supply(let supply) = committed.state else { return nil }
                    return SealedDocument(
                        StockDocument.bytes(
                            of: outlet, supply, version: committed.version, status: service.status(ofOrder:)))
                }
                // Nothing was ever counted.
                return stock.map { answer in
                    guard case .null = answer else { return answer }
                    return .document(StockDocument.bytes(of: outlet, Supply.initial, version: 0) { _ in nil })
                }
            }
        },
    ]

    /// Counts something of a menu.
    ///
    /// - Parameter isThere: whether a menu has it.
    private static func count(
        _ name: String, _ what: String, _ key: @escaping @Sendable (Identifier) -> Claim.Key,
        isThere: @escaping @Sendable (MenuState, Identifier) -> Bool
    ) -> Command {
        Command(
            name, .catalogue, role: .merchant, effect: .write(.supply),
            "Says how many of an \(what) can still be ordered, or adds some; without a number it is no longer counted."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let id = parameters.required(what, .identifier)
            let count = parameters.option("COUNT", "n", .count)
            let more = parameters.option("ADD", "n", .count)
            return { service, call throws(Failure) in
                let (outlet, id) = (try call[outlet], try call[id])
                let counted = try Supply.Count(count: try call[count], more: try call[more])
                return try service.stock(key(id), counted, at: outlet, call) { isThere($0, id) }
            }
        }
    }

    /// Has an outlet's supply answer an order.
    static let hold = Command(
        "SUPPLY.HOLD", .orders, role: .admin, effect: .write(.supply), isOfServers: true,
        "Answers an order that claims something of an outlet's supply."
    ) { parameters in
        let ask = Ask(&parameters)
        return { service, call throws(Failure) in
            service.hold(
                try ask.claims(call), for: try call[ask.order], at: try call[ask.outlet], try ask.metadata(call))
        }
    }

    /// Has an outlet's supply take back what an order claimed.
    static let takeBack = Command(
        "SUPPLY.TAKEBACK", .orders, role: .admin, effect: .write(.supply), isOfServers: true,
        "Takes back what an order claimed of an outlet's supply."
    ) { parameters in
        let ask = Ask(&parameters)
        return { service, call throws(Failure) in
            service.takeBack(
                try ask.claims(call), of: try call[ask.order], at: try call[ask.outlet], try ask.metadata(call))
        }
    }

    /// The arguments of what servers ask.
    private struct Ask: Sendable {
        let outlet: Parameter<Identifier>
        let order: Parameter<Identifier>
        private let claims: Parameter<Text>
        private let cause: Parameter<Text>
        private let flow: Parameter<Text>

        init(_ parameters: inout ParameterList) {
            outlet = parameters.required("outlet", .outlet)
            order = parameters.required("order", .identifier)
            claims = parameters.required("claims", .text)
            cause = parameters.required("cause", .text)
            flow = parameters.required("flow", .text)
        }

        func claims(_ call: borrowing Call) throws(Failure) -> [Claim] {
            let text = Array(try call[claims].utf8)
            do throws(JSONReadingError) {
                return try JSONReader.read(text) { reader throws(JSONReadingError) in
                    try ClaimCodec.decode(from: &reader)
                }
            } catch {
                throw .invalid(claims.field, "\(error)")
            }
        }

        func metadata(_ call: borrowing Call) throws(Failure) -> EventMetadata {
            let flow = try call[flow]
            return EventMetadata(
                commandID: nil, fingerprint: nil, flow: flow.isEmpty ? nil : flow, trace: try call.trace,
                actor: "tiffin", cause: try call[cause])
        }
    }
}

extension Supply.Count {
    /// What a call says with its options.
    fileprivate init(count: Int64?, more: Int64?) throws(Failure) {
        switch (count, more) {
        case (let count?, nil): self = .left(count)
        case (nil, let more?): self = .more(more)
        case (nil, nil): self = .uncounted
        case (_?, _?): throw Failure(.invalid, "COUNT and ADD exclude each other: give one of them")
        }
    }
}

extension Service {
    /// Submits what a merchant says of something.
    ///
    /// - Parameter isThere: whether a menu has it. What it no longer has can only be no longer counted.
    fileprivate func stock(
        _ key: Claim.Key, _ count: Supply.Count, at outlet: Identifier, _ call: borrowing Call,
        isThere: (MenuState) -> Bool
    ) throws(Failure) -> Response {
        guard let record = try self.outlet(outlet) else { throw .noOutlet(outlet) }
        guard count == .uncounted || isThere(record.menu) else {
            throw Failure(.notFound, "no \(key) in the menu")
        }
        return try submit(StreamName(.supply, outlet), call) { _, _ in .supply(.stock(key, count)) }
    }
}
