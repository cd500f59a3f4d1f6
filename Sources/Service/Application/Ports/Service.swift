package import Catalogue
package import CommandHandling
package import Domain
package import EventLog
package import Projections
package import Users

// The ports between asking and serving: what commands ask of whatever serves them. A command knows no event loop, no
// socket and no database; tests can serve it from memory.

/// Everything that commands ask for.
package protocol Service: AnyObject, ServiceOfWrites, ServiceOfState, ServiceOfDocuments, ServiceOfHistory,
    ServiceOfMaintenance
{}

/// A text of a customer's that a call has, or may have.
package struct PersonalArgument {
    /// The text; nil for none.
    package var text: Text?
    /// Which argument it is.
    package var parameter: OptionalParameter<Text>
    /// What it is.
    package var kind: TextKind

    /// A text that a call has, or none.
    package init(_ text: Text?, in parameter: OptionalParameter<Text>, as kind: TextKind) {
        self.text = text
        self.parameter = parameter
        self.kind = kind
    }
}

/// Decides writes and records them.
package protocol ServiceOfWrites {
    /// The time, as events record it.
    var now: Timestamp { get }

    /// Fails where there is no memory left for what would stay.
    func checkRoom() throws(Failure)

    /// Submits a write to a stream; it is answered once it is durable.
    ///
    /// - Parameter command: makes the domain's command of the state and version that it is decided against.
    func submit(
        _ stream: StreamName, _ call: borrowing Call,
        command: @escaping (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response

    /// Submits a write of a customer's as soon as their key is there, with its texts sealed.
    ///
    /// A customer without a key gets one only if the command would be accepted: it is decided first, with a key that
    /// is not kept.
    ///
    /// - Parameter command: makes the domain's command, with the sealed texts in the order of the arguments.
    func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing arguments: [PersonalArgument],
        command: @escaping ([SealedText?], AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response

    /// Submits a command about an order. To a user who is confined, another one's order looks as if it were not there.
    ///
    /// - Parameter command: makes the command for the order; nil where it was not placed.
    func submit(
        to order: Identifier, _ call: borrowing Call, knowing command: @escaping (Order.Book?) -> Order.Command
    ) throws(Failure) -> Response

    /// Submits a command about an order, with a text for its customer. The text is sealed with the key of the order's
    /// customer, if it has one.
    func submit(
        to order: Identifier, _ call: borrowing Call, giving parameter: OptionalParameter<Text>,
        command: @escaping (PersonalText?) -> Order.Command
    ) throws(Failure) -> Response

    /// The end of a checkout: where it has begun and waits for an outlet's supply, that is still to come.
    func concluded(_ checkout: Response) -> Response

    /// Answers an order that claims something of an outlet's supply, once and for good.
    ///
    /// - Parameter metadata: what it is recorded with.
    /// - Returns: the document of a ``ClaimReply``.
    func hold(_ claims: [Claim], for order: Identifier, at outlet: Identifier, _ metadata: EventMetadata) -> Response

    /// Takes back what an order claimed of an outlet's supply.
    func takeBack(
        _ claims: [Claim], of order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response
}

extension ServiceOfWrites {
    /// Submits a command about an order that depends on nothing else.
    package func submit(
        to order: Identifier, _ call: borrowing Call, command: @escaping () -> Order.Command
    ) throws(Failure) -> Response {
        try submit(to: order, call, knowing: { _ in command() })
    }

    /// The same with one text, the value of `parameter`.
    package func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing text: Text?,
        in parameter: OptionalParameter<Text>, as kind: TextKind,
        command: @escaping (SealedText?, AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        try submit(stream, call, of: customer, sealing: [PersonalArgument(text, in: parameter, as: kind)]) {
            command($0[0], $1, $2)
        }
    }
}

/// What is true now, from memory.
package protocol ServiceOfState {
    /// Which partition a stream belongs to.
    var partitioning: Partitioning { get }
    /// Every item and outlet.
    ///
    /// - Throws: `LOADING` while it is being built.
    var catalogue: Catalogue { get throws(Failure) }

    /// The outlet with its menu; nil where there is none.
    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord?

    /// What lines take of what an outlet has counted.
    func claims(of lines: [CartLine], at outlet: Identifier) -> [Claim]

    /// How much orders have of something that has a limit.
    func taken(_ key: Claim.Key, at outlet: Identifier) -> Int64

    /// The promotions of a cart's outlet, in the order of their ids, which lines each of them is about, and whether the
    /// cart's customer can use it.
    func promotions(for lines: [CartLine], of cart: Cart.Contents) -> [Promotion.Candidate]

    /// How far an order has come; nil where there is none.
    func status(ofOrder order: Identifier) -> Order.Status?

    /// What an outlet says of itself; nil where there is none, or it is damaged.
    ///
    /// - Parameter time: the moment at which it may be slow; nil for now.
    func details(of outlet: Identifier, at time: Timestamp?) -> OutletDetails?

    /// The rules of a time zone; nil where this system does not know it.
    func rules(of zone: Text) -> ZoneRules?

    /// What an outlet says of itself, or said last; nil where there never was one, or it is damaged.
    func lastDetails(of outlet: Identifier) -> OutletDetails?

    /// The first outlets with ids that are wanted, by their ids, also hidden ones.
    func outlets(_ count: Int, where isWanted: (Identifier) -> Bool) -> [OutletRecord]

    /// How many orders an outlet's kitchen has to do with, and how many of them are late.
    func openOrders(of outlet: Identifier) -> (count: Int, late: Int)

    /// Whether there is an outlet, or was: its orders outlive it.
    func hasKitchen(_ outlet: Identifier) -> Bool

    /// What an outlet's menu says of an item with some options.
    ///
    /// - Parameters:
    ///   - chosen: in the order of the ids, each once.
    ///   - service: how the order is to be had, if that was chosen.
    ///   - wanted: the time that it is wanted for; nil for now.
    func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, as service: ServiceKind?,
        wanted: Timestamp?
    ) -> Offer

    /// What an outlet's menu says of lines of a cart, in their order.
    func offers(for lines: [CartLine], of cart: Cart.Contents) -> [Offer]

    /// The number on a cart's badge, at once or as soon as the cart has been loaded.
    func count(of cart: Identifier) throws(Failure) -> Response

    /// What an outlet took between moments: one sum for each two that follow one another.
    func takings(of outlet: Identifier, between moments: [Timestamp]) -> [TakingsSums]

    /// A page of orders, at once or as soon as those are read that are in the database only.
    func orders(_ question: OrderQuestion, for caller: Caller) throws(Failure) -> Response

    #if DEBUG
        /// The words of a query, or what a planted fault makes of them.
        func planted(_ words: [String]) -> [String]
    #endif
}

extension ServiceOfState {
    /// The rules of an outlet's time zone.
    package func knownRules(of details: OutletDetails) throws(Failure) -> ZoneRules {
        guard let rules = rules(of: details.timeZone) else {
            throw Failure(.unavailable, "this system does not know the time zone \(details.timeZone)")
        }
        return rules
    }
}

extension ServiceOfState where Self: ServiceOfWrites {
    /// What the outlet of a cart says of itself when its order is to be had.
    package func details(for cart: Cart.Contents) -> OutletDetails? { details(of: cart.outlet, at: cart.wanted) }

    /// What an outlet's hours and slots say of a time; nil where its time zone is not known.
    package func hours(at outlet: Identifier?) -> HoursSource {
        OutletDetails.hours(at: now, rules: rules(of:)) { slot in outlet.map { self.taken(.slot(slot), at: $0) } ?? 0 }
    }
}

/// Documents, and what has changed in them.
package protocol ServiceOfDocuments {
    /// The outlet's home; nil where there is no such outlet.
    func home(of outlet: Identifier) throws(Failure) -> Home?

    /// What leads from the outlet's home of a revision to today's, at once or when the old one has been folded from
    /// the log; nil where there is no such outlet.
    func update(
        of outlet: Identifier, since revision: Int64, for caller: Caller,
        completion: @escaping (Result<HomeUpdate?, Failure>) -> Void)

    /// A document of a stream's committed state, or null, as soon as the stream is known.
    ///
    /// - Parameter confinement: a document outside it looks to a confined user as if it were not there.
    func document(
        of stream: StreamName, for caller: Caller, within confinement: Confinement?,
        _ document: @escaping (CommittedState) -> SealedDocument?
    ) -> Response

    /// A cart with its lines and what has become of them; nil where it never was.
    func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument?

    /// What a cart costs now; nil where it never was.
    func quote(of cart: Identifier, _ committed: CommittedState) -> SealedDocument?

    /// What leads from a cart of a version to today's: null for nothing, a patch, or the whole cart.
    func change(ofCart cart: Identifier, since version: Int64, for caller: Caller) -> Response

    /// What leads from an order of a version to today's: null for nothing, a patch, or the whole order.
    func change(
        ofOrder order: Identifier, since version: Int64, for caller: Caller, within confinement: Confinement?
    ) -> Response

    /// What has changed in a document since a client was given it, as soon as it is known; null where nothing has. The
    /// client is given the whole document as one change if it has none, or one that is not known any more.
    ///
    /// - Parameters:
    ///   - content: what its digest is of, if that is not all of it.
    ///   - since: the digest of the document that the client has.
    func change(to document: [UInt8], content: [UInt8]?, since: Text) -> Response

    /// What a kitchen sees, as soon as its texts are opened.
    func kitchen(of outlet: Identifier, for caller: Caller) -> Response

    /// A patch as it is sent.
    func sent(_ patch: [UInt8]) -> [UInt8]
}

/// The past, read from the log.
package protocol ServiceOfHistory {
    /// A document of the past, or null, as soon as it is known.
    func past(_ question: PastQuestion, for caller: Caller, within confinement: Confinement?) -> Response

    /// A page of orders as it was at a moment, as soon as it is known.
    func orders(_ question: OrderQuestion, at moment: Moment, for caller: Caller) throws(Failure) -> Response

    /// What has been read from the log, as soon as it is there.
    ///
    /// - Parameter event: what to wait for before it is read.
    func reading(
        for caller: Caller, waitingFor event: AwaitedEvent?,
        _ read: @escaping (any EventLog) async throws(EventLogError) -> Answer
    ) throws(Failure) -> Response

    /// A receipt for an event, as JSON. One of an order that is not within a confinement is not there.
    ///
    /// - Parameter form: nil for a signed one, if a head is signed that has the event, and for a tree if not.
    func receipt(
        for stream: StreamName, version: Int64, head: Int64?, form: Receipt.Form?, to caller: Caller,
        within confinement: Confinement?
    ) -> Response

    /// A proof of all events of an order, as JSON. An order that is not within a confinement is not there.
    func proof(of order: Identifier, to caller: Caller, within confinement: Confinement?) -> Response

    /// What a partition is, by the root over it, and that it goes on from what it was, as JSON.
    func growth(of partition: Int, head: Int64?, since size: Int64?, to caller: Caller) -> Response
}

/// What is done beside the log.
package protocol ServiceOfMaintenance {
    /// Destroys customers' keys. Nothing else of the same connection is executed until that is done, so that what it
    /// asks next shows what is left.
    ///
    /// - Parameters:
    ///   - metadata: of the events that say so.
    ///   - isOwn: whether they forget themselves. Customers can do so as often as they like, so the remainders of their
    ///     keys are removed later, all at once.
    func forget(
        _ customers: Set<Identifier>, _ metadata: EventMetadata, _ call: borrowing Call, isOwn: Bool
    ) throws(Failure) -> Response

    /// Stores a picture. Returns the path at which it is served, as JSON, once it is there.
    func store(_ picture: Picture, of outlet: Identifier, for caller: Caller) throws(Failure) -> Response

    /// A list of the front that has it, as JSON; nil where none has.
    func list(_ list: FrontList) -> [UInt8]?

    /// Closes a client's connection. Returns whether there is one.
    func closeClient(_ client: Int64) -> Bool

    /// How far each relay is, as JSON, once that is read.
    func relays(for caller: Caller) throws(Failure) -> Response

    /// Every user, as JSON, once they are read.
    func users(for caller: Caller) throws(Failure) -> Response

    /// Does something to a user. Returns what it is then, or its new token, as JSON, once that is done. Nothing else of
    /// the same connection is executed until then.
    func perform(_ action: UserAction, on name: Identifier, _ call: borrowing Call) throws(Failure) -> Response

    /// Begins to rebuild the stored rows of a projection. Returns how far it is, as JSON.
    func rebuild(_ projection: RegisteredProjection, _ call: borrowing Call) throws(Failure) -> Answer
}
