package import Application
package import Catalogue
package import CommandHandling
package import Domain
package import EventLog
internal import EventLoop
package import Projections
package import Users

// What commands ask for, and which room answers.
extension Server: @LoopActor Service {
    package var now: Timestamp { clock() }

    package func checkRoom() throws(Failure) { try memory.checkRoom() }

    // MARK: Writes

    package func submit(
        _ stream: StreamName, _ call: borrowing Call,
        command: @escaping (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        try writes.submit(stream, call, command: command)
    }

    package func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing arguments: [PersonalArgument],
        command: @escaping ([SealedText?], AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        try writes.submit(stream, call, of: customer, sealing: arguments, command: command)
    }

    package func submit(
        to order: Identifier, _ call: borrowing Call, knowing command: @escaping (Order.Book?) -> Order.Command
    ) throws(Failure) -> Response {
        try writes.submit(to: order, call, knowing: command)
    }

    package func submit(
        to order: Identifier, _ call: borrowing Call, giving parameter: OptionalParameter<Text>,
        command: @escaping (PersonalText?) -> Order.Command
    ) throws(Failure) -> Response {
        try writes.submit(to: order, call, giving: parameter, command: command)
    }

    package func concluded(_ checkout: Response) -> Response { processes.concluded(checkout) }

    package func hold(
        _ claims: [Claim], for order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        writes.hold(claims, for: order, at: outlet, metadata)
    }

    package func takeBack(
        _ claims: [Claim], of order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        writes.takeBack(claims, of: order, at: outlet, metadata)
    }

    // MARK: State

    package func claims(of lines: [CartLine], at outlet: Identifier) -> [Claim] {
        partitions.claims(of: lines, at: outlet)
    }

    package func taken(_ key: Claim.Key, at outlet: Identifier) -> Int64 { partitions.taken(key, at: outlet) }

    package func promotions(for lines: [CartLine], of cart: Cart.Contents) -> [Promotion.Candidate] {
        partitions.promotions(for: lines, of: cart)
    }

    package func status(ofOrder order: Identifier) -> Order.Status? { partitions.status(ofOrder: order) }

    package var partitioning: Partitioning { partitions.partitioning }

    /// How many outlets, carts and orders have ids in a slot; looks at all of them.
    package func keyCount(inSlot slot: Int) -> Int { partitions.keyCount(inSlot: slot) }

    package var catalogue: Catalogue { get throws(Failure) { try liveCatalogue.current } }

    package func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? { try partitions.outlet(outlet) }

    package func details(of outlet: Identifier, at time: Timestamp?) -> OutletDetails? {
        partitions.details(of: outlet, at: time)
    }

    package func rules(of zone: Text) -> ZoneRules? { partitions.rules(of: zone) }

    package func lastDetails(of outlet: Identifier) -> OutletDetails? { partitions.lastDetails(of: outlet) }

    package func outlets(_ count: Int, where isWanted: (Identifier) -> Bool) -> [OutletRecord] {
        partitions.outlets(count, where: isWanted)
    }

    package func openOrders(of outlet: Identifier) -> (count: Int, late: Int) { partitions.openOrders(of: outlet) }

    package func hasKitchen(_ outlet: Identifier) -> Bool { partitions.hasKitchen(outlet) }

    package func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, as service: ServiceKind?,
        wanted: Timestamp?
    ) -> Offer {
        partitions.offer(of: item, with: chosen, at: outlet, as: service, wanted: wanted)
    }

    package func offers(for lines: [CartLine], of cart: Cart.Contents) -> [Offer] {
        partitions.offers(for: lines, of: cart)
    }

    package func count(of cart: Identifier) throws(Failure) -> Response {
        if let known = try partitions.knownCount(of: cart) { return .answer(.integer(Int64(known))) }
        let promise = Promise(about: .cart)
        partitions.count(of: cart) { promise.end($0.map { .integer(Int64($0)) }) }
        return .promise(promise)
    }

    package func takings(of outlet: Identifier, between moments: [Timestamp]) -> [TakingsSums] {
        partitions.takings(of: outlet, between: moments)
    }

    package func orders(_ question: OrderQuestion, for caller: Caller) throws(Failure) -> Response {
        try history.orders(question, for: caller)
    }

    #if DEBUG
        package func planted(_ words: [String]) -> [String] { configuration.plantedFault?.asked(words) ?? words }
    #endif

    // MARK: Documents

    package func home(of outlet: Identifier) throws(Failure) -> Home? { try homes.home(of: outlet) }

    package func update(
        of outlet: Identifier, since revision: Int64, for caller: Caller,
        completion: @escaping (Result<HomeUpdate?, Failure>) -> Void
    ) {
        homes.update(of: outlet, since: revision, for: caller, completion: completion)
    }

    package func document(
        of stream: StreamName, for caller: Caller, within confinement: Confinement?,
        _ document: @escaping (CommittedState) -> SealedDocument?
    ) -> Response {
        documents.document(of: stream, for: caller, within: confinement, document)
    }

    package func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        partitions.document(of: cart, committed)
    }

    package func quote(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        partitions.quote(of: cart, committed)
    }

    package func change(ofCart cart: Identifier, since version: Int64, for caller: Caller) -> Response {
        documents.change(ofCart: cart, since: version, for: caller)
    }

    package func change(
        ofOrder order: Identifier, since version: Int64, for caller: Caller, within confinement: Confinement?
    ) -> Response {
        documents.change(ofOrder: order, since: version, for: caller, within: confinement)
    }

    package func change(to document: [UInt8], content: [UInt8]?, since: Text) -> Response {
        recents.change(to: document, content: content, since: since)
    }

    package func kitchen(of outlet: Identifier, for caller: Caller) -> Response {
        let promise = Promise(about: .order)
        kitchens.document(of: outlet, for: caller) { promise.end($0.map(Answer.document)) }
        return .promise(promise)
    }

    package func sent(_ patch: [UInt8]) -> [UInt8] { configuration.sent(patch) }

    // MARK: History

    package func past(_ question: PastQuestion, for caller: Caller, within confinement: Confinement?) -> Response {
        documents.past(question, for: caller, within: confinement)
    }

    package func orders(_ question: OrderQuestion, at moment: Moment, for caller: Caller) throws(Failure) -> Response {
        try history.orders(question, at: moment, for: caller)
    }

    package func reading(
        for caller: Caller, waitingFor event: AwaitedEvent?,
        _ read: @escaping (any EventLog) async throws(EventLogError) -> Answer
    ) throws(Failure) -> Response {
        try history.reading(for: caller, waitingFor: event, read)
    }

    package func receipt(
        for stream: StreamName, version: Int64, head: Int64?, form: Receipt.Form?, to caller: Caller,
        within confinement: Confinement?
    ) -> Response {
        let promise = Promise(about: .order)
        documents.whetherShown(stream, within: confinement) { [receipts] isShown in
            switch isShown {
            case .failure(let failure): promise.fail(failure)
            case .success(false): promise.fail(.noSuchVersion(version, of: stream))
            case .success(true):
                receipts.issue(for: stream, version: version, head: head, form: form, to: caller) {
                    promise.end($0.map(Answer.document))
                }
            }
        }
        return .promise(promise)
    }

    package func proof(
        of order: Identifier, to caller: Caller, within confinement: Confinement?
    ) -> Response {
        let promise = Promise(about: .order)
        documents.whetherShown(StreamName(.order, order), within: confinement) { [receipts] isShown in
            switch isShown {
            case .failure(let failure): promise.fail(failure)
            case .success(false): promise.fail(.noOrder(order))
            case .success(true): receipts.proof(of: order, to: caller) { promise.end($0.map(Answer.document)) }
            }
        }
        return .promise(promise)
    }

    package func growth(of partition: Int, head: Int64?, since size: Int64?, to caller: Caller) -> Response {
        let promise = Promise(about: .order)
        receipts.growth(of: partition, head: head, since: size, to: caller) {
            promise.end($0.map(Answer.document))
        }
        return .promise(promise)
    }

    // MARK: Maintenance

    package func forget(
        _ customers: Set<Identifier>, _ metadata: EventMetadata, _ call: borrowing Call, isOwn: Bool
    ) throws(Failure) -> Response {
        try forgetting.forget(customers, for: name(ofCallerOf: call), metadata, call.caller, isOwn: isOwn)
    }

    package func store(_ picture: Picture, of outlet: Identifier, for caller: Caller) throws(Failure) -> Response {
        try pictures.store(picture, of: outlet, for: caller)
    }

    package func relays(for caller: Caller) throws(Failure) -> Response {
        try administration.relays(heads: { [partitions] in partitions.workers.map(\.head) }, for: caller)
    }

    package func users(for caller: Caller) throws(Failure) -> Response { try administration.users(for: caller) }

    package func perform(
        _ action: UserAction, on name: Identifier, _ call: borrowing Call
    ) throws(Failure) -> Response {
        guard logins.directory.requiresLogin else {
            throw .unavailable("there are no users yet: `tiffin user add` adds the first, with its password")
        }
        return try administration.perform(
            action, on: name, for: self.name(ofCallerOf: call), try call.origin, call.caller)
    }

    package func rebuild(_ projection: RegisteredProjection, _ call: borrowing Call) throws(Failure) -> Answer {
        try rebuilder.begin(projection, for: name(ofCallerOf: call))
        return .document(rebuilder.json)
    }
}
