import Catalogue
import CommandHandling
import Domain
import EventLog
import Projections
import TextFormats
import Users

@testable import Application

/// Serves commands from memory: without an event loop, and without deciding anything. It answers what a test has laid
/// out, and notes what it is asked for.
final class MemoryService: Service {
    /// A write that was submitted.
    struct Write {
        var stream: StreamName
        var metadata: EventMetadata
        var expectedVersion: Int64?
        /// The customer whose key seals texts, the first of these, and what it is.
        var customer: Identifier?
        var text: Text?
        var kind: TextKind?
        /// Makes the domain's command of a state, with the texts sealed.
        var command: (AggregateState) -> DomainCommand
    }

    var now = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)
    var partitioning = Partitioning(count: 1)
    let catalogue = Catalogue()
    var room: Failure?
    var homes: [Identifier: Home] = [:]
    var counts: [Identifier: Int] = [:]
    var offer = Offer.noItem
    var details: [Identifier: OutletDetails] = [:]

    // What it was asked for.
    var writes: [Write] = []
    var offersAsked: [(item: Identifier, chosen: [ChosenOption], outlet: Identifier)] = []
    var orderQuestions: [(question: OrderQuestion, moment: Moment?)] = []
    var pastQuestions: [PastQuestion] = []
    var updates: [Int64] = []
    var readings: [(event: AwaitedEvent?, read: (any EventLog) async throws(EventLogError) -> Answer)] = []
    var receipts: [(stream: StreamName, version: Int64, head: Int64?)] = []
    var forgotten: [(customers: Set<Identifier>, isOwn: Bool)] = []

    /// Runs a command. Its words are the arguments.
    func run(
        _ words: [String], within confinement: Confinement? = nil, with rights: Rights = .all
    ) throws(Failure) -> Response {
        let command = Command.all.first { $0.declaration.name == words[0] }!
        return try Arguments.with(words.map { Array($0.utf8) }) { arguments throws(Failure) in
            try command.body(self, try Call(command.declaration, arguments, within: confinement, with: rights))
        }
    }

    func checkRoom() throws(Failure) { if let room { throw room } }

    // MARK: Writes

    func submit(
        _ stream: StreamName, _ call: borrowing Call, command: @escaping (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        writes.append(
            Write(
                stream: stream, metadata: try call.metadata(), expectedVersion: try call.expectedVersion,
                command: { command($0, 0) }))
        return .promise(Promise(about: stream.category))
    }

    func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing arguments: [PersonalArgument],
        command: @escaping ([SealedText?], AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        let sealed = arguments.map { $0.text.map { SealedText(ciphertext: Text("sealed \($0.string)")) } }
        writes.append(
            Write(
                stream: stream, metadata: try call.metadata(sealing: arguments.map(\.parameter))(sealed),
                expectedVersion: try call.expectedVersion, customer: customer, text: arguments.first?.text,
                kind: arguments.first?.kind,
                command: { command(sealed, $0, 0) }))
        return .promise(Promise(about: stream.category, isHolding: true))
    }

    func submit(
        to order: Identifier, _ call: borrowing Call, knowing command: @escaping (Order.Book?) -> Order.Command
    ) throws(Failure) -> Response {
        try submit(StreamName(.order, order), call) { state, _ in
            guard case .order(let order) = state else { return .order(command(nil)) }
            return .order(command(order.book))
        }
    }

    func submit(
        to order: Identifier, _ call: borrowing Call, giving parameter: OptionalParameter<Text>,
        command: @escaping (PersonalText?) -> Order.Command
    ) throws(Failure) -> Response {
        let text = try call[parameter]
        return try submit(StreamName(.order, order), call) { _, _ in .order(command(text.map(PersonalText.plain))) }
    }

    func concluded(_ checkout: Response) -> Response { checkout }

    func hold(
        _ claims: [Claim], for order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        .answer(.null)
    }

    func takeBack(
        _ claims: [Claim], of order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        .answer(.null)
    }

    // MARK: State

    func claims(of lines: [CartLine], at outlet: Identifier) -> [Claim] { [] }

    func taken(_ key: Claim.Key, at outlet: Identifier) -> Int64 { 0 }
    func promotions(for lines: [CartLine], of cart: Cart.Contents) -> [Promotion.Candidate] { [] }

    func status(ofOrder order: Identifier) -> Order.Status? { nil }

    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? { nil }

    func details(of outlet: Identifier, at _: Timestamp?) -> OutletDetails? { details[outlet] }

    func rules(of zone: Text) -> ZoneRules? { ZoneRules(zone) }

    func lastDetails(of outlet: Identifier) -> OutletDetails? { details[outlet] }

    func takings(of outlet: Identifier, between moments: [Timestamp]) -> [TakingsSums] {
        moments.dropFirst().map { _ in TakingsSums() }
    }

    func outlets(_ count: Int, where isWanted: (Identifier) -> Bool) -> [OutletRecord] { [] }

    func openOrders(of outlet: Identifier) -> (count: Int, late: Int) { (0, 0) }

    func hasKitchen(_ outlet: Identifier) -> Bool { details[outlet] != nil }

    func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, as _: ServiceKind?,
        wanted _: Timestamp?
    ) -> Offer {
        offersAsked.append((item, chosen, outlet))
        return offer
    }

    func offers(for lines: [CartLine], of _: Cart.Contents) -> [Offer] { lines.map { _ in offer } }

    func count(of cart: Identifier) throws(Failure) -> Response { .answer(.integer(Int64(counts[cart] ?? 0))) }

    func orders(_ question: OrderQuestion, for caller: Caller) throws(Failure) -> Response {
        orderQuestions.append((question, nil))
        return .answer(.document(Array("{}".utf8)))
    }

    #if DEBUG
        func planted(_ words: [String]) -> [String] { words }
    #endif

    // MARK: Documents

    func home(of outlet: Identifier) throws(Failure) -> Home? { homes[outlet] }

    func update(
        of outlet: Identifier, since revision: Int64, for caller: Caller,
        completion: @escaping (Result<HomeUpdate?, Failure>) -> Void
    ) {
        updates.append(revision)
        completion(
            .success(
                homes[outlet].map { .patch(from: revision, to: $0.revision, Array("[]".utf8)) }))
    }

    func document(
        of stream: StreamName, for caller: Caller, within confinement: Confinement?,
        _ document: @escaping (CommittedState) -> SealedDocument?
    ) -> Response { .answer(.null) }

    func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? { nil }

    func quote(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? { nil }

    func change(ofCart cart: Identifier, since version: Int64, for caller: Caller) -> Response { .answer(.null) }

    func change(
        ofOrder order: Identifier, since version: Int64, for caller: Caller, within confinement: Confinement?
    ) -> Response { .answer(.null) }

    func change(to document: [UInt8], content: [UInt8]?, since: Text) -> Response { .answer(.document(document)) }

    func kitchen(of outlet: Identifier, for caller: Caller) -> Response { .answer(.null) }

    func sent(_ patch: [UInt8]) -> [UInt8] { patch }

    // MARK: History

    func past(_ question: PastQuestion, for caller: Caller, within confinement: Confinement?) -> Response {
        pastQuestions.append(question)
        return .answer(.null)
    }

    func orders(_ question: OrderQuestion, at moment: Moment, for caller: Caller) throws(Failure) -> Response {
        orderQuestions.append((question, moment))
        return .answer(.null)
    }

    func reading(
        for caller: Caller, waitingFor event: AwaitedEvent?,
        _ read: @escaping (any EventLog) async throws(EventLogError) -> Answer
    ) throws(Failure) -> Response {
        readings.append((event, read))
        return .promise(Promise(about: .order))
    }

    func receipt(
        for stream: StreamName, version: Int64, head: Int64?, form: Receipt.Form?, to caller: Caller,
        within confinement: Confinement?
    ) -> Response {
        receipts.append((stream, version, head))
        return .answer(.null)
    }

    func proof(of order: Identifier, to caller: Caller, within confinement: Confinement?) -> Response { .answer(.null) }

    func growth(of partition: Int, head: Int64?, since size: Int64?, to caller: Caller) -> Response { .answer(.null) }

    // MARK: Maintenance

    func store(_ picture: Picture, of outlet: Identifier, for caller: Caller) throws(Failure) -> Response {
        .answer(.null)
    }

    func forget(
        _ customers: Set<Identifier>, _ metadata: EventMetadata, _ call: borrowing Call, isOwn: Bool
    ) throws(Failure) -> Response {
        forgotten.append((customers, isOwn))
        return .answer(.null)
    }

    func list(_ list: FrontList) -> [UInt8]? { nil }

    func closeClient(_ client: Int64) -> Bool { false }

    func relays(for caller: Caller) throws(Failure) -> Response { .answer(.null) }

    func users(for caller: Caller) throws(Failure) -> Response { .answer(.null) }

    func perform(
        _ action: UserAction, on name: Identifier, _ call: borrowing Call
    ) throws(Failure) -> Response { .answer(.null) }

    func rebuild(_ projection: RegisteredProjection, _ call: borrowing Call) throws(Failure) -> Answer { .null }
}
