internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Users

/// Has writes decided and recorded, as ``ServiceOfWrites`` promises.
@LoopActor
final class Writes {
    private let partitions: Partitions
    private let sealer: TextSealer
    private let configuration: Configuration

    init(_ partitions: Partitions, _ sealer: TextSealer, _ configuration: Configuration) {
        self.partitions = partitions
        self.sealer = sealer
        self.configuration = configuration
    }

    func submit(
        _ stream: StreamName, _ call: borrowing Call,
        command: @escaping (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        let promise = Promise(about: stream.category)
        var request = CommandRequest(
            stream: stream, metadata: try call.metadata(), expectedVersion: try call.expectedVersion, command: command)
        request.isRecall = call.isRecall
        submit(request, promise)
        return .promise(promise)
    }

    func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing arguments: [PersonalArgument],
        command: @escaping ([SealedText?], AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        for argument in arguments { try argument.text?.check(argument.parameter.field, argument.kind.bounds) }
        let metadata = try call.metadata(sealing: arguments.map(\.parameter))
        let expectedVersion = try call.expectedVersion
        let texts = arguments.map { ($0.text, $0.kind) }
        let isRecall = call.isRecall
        let promise = Promise(about: stream.category, isHolding: true)
        submit(promise, of: TextOwner(customer: customer, cart: stream.id), for: call.caller) { key, owner in
            let sealed = texts.map { text, kind in text.map { key.seal($0, kind, of: owner) } }
            var request = CommandRequest(
                stream: stream, metadata: metadata(sealed), expectedVersion: expectedVersion
            ) { command(sealed, $0, $1) }
            request.isRecall = isRecall
            return request
        }
        return .promise(promise)
    }

    /// Submits a request as soon as the key of its texts is there.
    ///
    /// - Parameter request: makes the request with a key.
    private func submit(
        _ promise: Promise, of owner: TextOwner, for caller: Caller,
        _ request: @escaping @LoopActor (SealingKey, TextOwner) -> CommandRequest
    ) {
        @LoopActor func submit(with key: Result<CustomerKey, Failure>) {
            switch key {
            case .success(.known(let key)): self.submit(request(key, owner), promise)
            case .success(.destroyed): promise.fail(.forgotten)
            case .success(.unknown): promise.fail(.unavailable("no key could be made"))
            case .failure(let failure): promise.fail(failure)
            }
        }
        sealer.key(of: owner, for: caller) { [self] key in
            guard case .success(.unknown) = key else { return submit(with: key) }
            var trial = request(.random(), owner)
            trial.isTrial = true
            sealer.trialCount += 1
            partitions[trial.stream].handle(trial) { [self] outcome in
                sealer.trialCount -= 1
                guard outcome == .recordable else { return promise.end(outcome) }
                sealer.makeKey(of: owner, for: caller, completion: submit)
            }
        }
    }

    // MARK: Orders

    func submit(
        to order: Identifier, _ call: borrowing Call, knowing command: @escaping (Order.Book?) -> Order.Command
    ) throws(Failure) -> Response {
        let stream = StreamName(.order, order)
        let promise = Promise(about: stream.category)
        var request = CommandRequest(
            stream: stream, metadata: try call.metadata(), expectedVersion: try call.expectedVersion
        ) { [self] state, _ in .order(LoopActor.assumeIsolated { self.decided(command(state.order)) }) }
        request.mayKnow = call.confinement?.orders
        submit(request, promise)
        return .promise(promise)
    }

    func submit(
        to order: Identifier, _ call: borrowing Call, giving parameter: OptionalParameter<Text>,
        command: @escaping (PersonalText?) -> Order.Command
    ) throws(Failure) -> Response {
        guard let text = try call[parameter] else { return try submit(to: order, call, knowing: { _ in command(nil) }) }
        try text.check(parameter.field, TextRules.note)
        let stream = StreamName(.order, order)
        let (plain, sealed, version) = (
            try call.metadata(), try call.metadata(sealing: parameter), try call.expectedVersion
        )
        let (caller, mayKnow) = (call.caller, call.confinement?.orders)
        @LoopActor func request(_ metadata: EventMetadata, _ text: PersonalText) -> CommandRequest {
            var request = CommandRequest(stream: stream, metadata: metadata, expectedVersion: version) { _, _ in
                .order(LoopActor.assumeIsolated { self.decided(command(text)) })
            }
            request.mayKnow = mayKnow
            return request
        }
        let promise = Promise(about: stream.category, isHolding: true)
        partitions[stream].read(stream) { [self] result in
            // Not here: the processor may be in the middle of its work.
            LoopActor.task { [self] in
                switch result {
                case .failure(let failure): promise.fail(Failure(failure))
                case .success(let committed):
                    guard mayKnow?(committed.state) ?? true, let owner = committed.state.order?.placement.owner else {
                        return submit(request(plain, .plain(text)), promise)
                    }
                    submit(promise, of: owner, for: caller) { key, owner in
                        let ciphertext = key.seal(text, .reason, of: owner)
                        return request(sealed(ciphertext), .sealed(ciphertext))
                    }
                }
            }
        }
        return .promise(promise)
    }

    // MARK: Supply

    func hold(
        _ claims: [Claim], for order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        let stream = StreamName(.supply, outlet)
        let promise = Promise(about: stream.category)
        let request = CommandRequest(stream: stream, metadata: metadata) { [clock = partitions.clock] _, _ in
            .supply(.hold(claims, order: order, now: clock()))
        }
        partitions[stream].handle(request) { [self] outcome in
            guard case .accepted = outcome else { return promise.fail(Failure(outcome)) }
            // Not here: the processor may be in the middle of its work.
            LoopActor.task { [self] in
                partitions[stream].read(stream) { result in
                    promise.end(
                        result.mapError { Failure($0) }.map { committed in
                            guard case .supply(let supply) = committed.state else { return .null }
                            return ClaimReply.answer(supply.answers[order])
                        })
                }
            }
        }
        return .promise(promise)
    }

    func takeBack(
        _ claims: [Claim], of order: Identifier, at outlet: Identifier, _ metadata: EventMetadata
    ) -> Response {
        let promise = Promise(about: .supply)
        let returned = self.returned(claims)
        submit(
            CommandRequest(stream: StreamName(.supply, outlet), metadata: metadata) { _, _ in
                .supply(.takeBack(returned, order: order))
            }, promise)
        return .promise(promise)
    }

    private func submit(_ request: consuming CommandRequest, _ promise: Promise) {
        request.metadata = recorded(request.metadata)
        // The promise alone: it takes no memory of its own to keep a closure that holds a single object.
        partitions[request.stream].handle(request) { promise.end($0) }
    }

    /// The metadata as the log gets it: unchanged, except for a planted fault.
    private func recorded(_ metadata: EventMetadata) -> EventMetadata {
        #if DEBUG
            if metadata.commandID != nil, configuration.plantedFault?.strikes(.lostID) ?? false { return .none }
        #endif
        return metadata
    }

    /// What an order gives back: all of it, except for a planted fault.
    private func returned(_ claims: [Claim]) -> [Claim] {
        #if DEBUG
            if configuration.plantedFault?.strikes(.lostReturn) ?? false { return [] }
        #endif
        return claims
    }

    /// A command about an order: unchanged, except for a planted fault.
    private func decided(_ command: Order.Command) -> Order.Command {
        #if DEBUG
            if let fault = configuration.plantedFault { return fault.decided(command) }
        #endif
        return command
    }
}

extension Promise {
    /// Gives what became of a command.
    fileprivate func end(_ outcome: CommandOutcome) {
        switch outcome {
        case .accepted(.version(let version)): keep(.integer(version))
        case .accepted(.count(let count)): keep(.integer(Int64(count)))
        case .accepted(.order(let order)): keep(.text(order.rawValue))
        case .accepted(.checkingOut(let order)): fail(.checkingOut(order))
        case .recordable, .rejected, .corrupt, .busy, .unavailable, .unknown: fail(Failure(outcome))
        }
    }
}

extension AggregateState {
    /// The order, if it is one that was placed.
    fileprivate var order: Order.Book? {
        if case .order(let state) = self { state.book } else { nil }
    }
}

extension Confinement {
    /// Whether a user may know of an order.
    fileprivate var orders: (AggregateState) -> Bool {
        { [self] state in
            state.order.map { allowsOrder(from: $0.placement.cart, at: $0.placement.outlet) } ?? true
        }
    }
}

extension TextKind {
    /// How many bytes such a text has.
    fileprivate var bounds: ClosedRange<Int> {
        switch self {
        case .note, .reason: TextRules.note
        case .name: TextRules.name
        case .phone: TextRules.phone
        case .address: TextRules.address
        }
    }
}

extension Text {
    /// Refuses a text out of bounds before it is sealed.
    fileprivate func check(_ field: String, _ bounds: ClosedRange<Int>) throws(Failure) {
        do throws(Rejection) {
            try TextRules.check(self, .field(field), bounds)
        } catch {
            throw Failure(error)
        }
    }
}
