internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Users

// How bodies of commands answer: with the outcome of a write, a document that has to be loaded, or one of the past.
extension Application {
    // MARK: Writes

    /// Submits a write to a stream; it is answered once it is durable.
    ///
    /// - Parameter command: makes the domain's command of the state and version it is decided against.
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

    /// Submits a write of a customer's as soon as their key is there, with one of its texts sealed.
    ///
    /// A customer without a key gets one only if the command would be accepted: it is decided first, with a key that
    /// nobody keeps.
    ///
    /// - Parameters:
    ///   - text: the value of `parameter`.
    ///   - command: makes the domain's command, with the sealed text.
    func submit(
        _ stream: StreamName, _ call: borrowing Call, of customer: Identifier, sealing text: Text?,
        in parameter: OptionalParameter<Text>, as kind: TextKind,
        command: @escaping (SealedText?, AggregateState, Int64) -> DomainCommand
    ) throws(Failure) -> Response {
        try text?.check(parameter.field, kind == .name ? TextRules.name : TextRules.note)
        let (metadata, expectedVersion) = (try call.metadata(sealing: parameter), try call.expectedVersion)
        let isRecall = call.isRecall
        let promise = Promise(about: stream.category, isHolding: true)
        submit(promise, of: TextOwner(customer: customer, cart: stream.id), for: call.caller) { key, owner in
            let sealed = text.map { key.seal($0, kind, of: owner) }
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
        textSealer.key(of: owner, for: caller) { [self] key in
            guard case .success(.unknown) = key else { return submit(with: key) }
            var trial = request(.random(), owner)
            trial.isTrial = true
            textSealer.trialCount += 1
            partition(of: trial.stream).processor.handle(trial) { [self] outcome in
                textSealer.trialCount -= 1
                guard outcome == .recordable else { return promise.end(outcome) }
                textSealer.makeKey(of: owner, for: caller, completion: submit)
            }
        }
    }

    // MARK: Orders

    /// Submits a command about an order. To a user who is confined, somebody else's order looks as if it were not there.
    func submit(
        to order: Identifier, _ call: borrowing Call, command: @escaping @LoopActor () -> Order.Command
    ) throws(Failure) -> Response {
        let stream = StreamName(.order, order)
        let promise = Promise(about: stream.category)
        var request = CommandRequest(
            stream: stream, metadata: try call.metadata(), expectedVersion: try call.expectedVersion
        ) { [self] _, _ in .order(LoopActor.assumeIsolated { self.decided(command()) }) }
        request.mayKnow = call.confinement?.orders
        submit(request, promise)
        return .promise(promise)
    }

    /// Submits a command about an order, with a text for its customer. That is sealed with the key of the order's
    /// customer, if it has one, so the order is read first.
    func submit(
        to order: Identifier, _ call: borrowing Call, giving parameter: OptionalParameter<Text>,
        command: @escaping @LoopActor (PersonalText?) -> Order.Command
    ) throws(Failure) -> Response {
        guard let text = try call[parameter] else { return try submit(to: order, call) { command(nil) } }
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
        partition(of: stream).processor.read(stream) { [self] result in
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

    private func submit(_ request: consuming CommandRequest, _ promise: Promise) {
        request.metadata = recorded(request.metadata)
        // The promise alone: it takes no memory of its own to keep a closure that holds a single object.
        partition(of: request.stream).processor.handle(request) { promise.end($0) }
    }

    /// The metadata as the log gets it: unchanged, except for a planted fault.
    private func recorded(_ metadata: EventMetadata) -> EventMetadata {
        #if DEBUG
            if metadata.commandID != nil, configuration.plantedFault?.strikes(.lostID) ?? false { return .none }
        #endif
        return metadata
    }

    /// A command about an order: unchanged, except for a planted fault.
    private func decided(_ command: Order.Command) -> Order.Command {
        #if DEBUG
            if let fault = configuration.plantedFault { return fault.decided(command) }
        #endif
        return command
    }

    // MARK: Documents

    /// A document of a stream's committed state, or null, as soon as the stream is known.
    ///
    /// - Parameter confinement: to a user who is confined, what is not within it looks as if it were not there.
    func document(
        of stream: StreamName, for caller: Caller, within confinement: Confinement? = nil,
        _ document: @escaping @LoopActor (CommittedState) -> SealedDocument?
    ) -> Response {
        let promise = Promise(about: stream.category)
        partition(of: stream).processor.read(stream) { [self] result in
            switch result {
            case .success(let committed):
                keep(promise, committed.version > 0 ? document(committed) : nil, for: caller, within: confinement)
            case .failure(let failure): promise.fail(Failure(failure))
            }
        }
        return .promise(promise)
    }

    /// A document of the past, or null, as soon as it is known.
    func past(_ question: Archive.Question, for caller: Caller, within confinement: Confinement? = nil) -> Response {
        let promise = Promise(about: .order)
        archive.answer(question, for: caller) { [self] answer in
            switch answer {
            case .success(let document): keep(promise, document, for: caller, within: confinement)
            case .failure(let failure): promise.fail(failure)
            }
        }
        return .promise(promise)
    }

    /// Keeps a promise with a document, or null, as soon as its texts can be opened.
    private func keep(
        _ promise: Promise, _ document: SealedDocument?, for caller: Caller, within confinement: Confinement?
    ) {
        guard let document, document.isWithin(confinement) else { return promise.keep(.null) }
        textSealer.open(document, for: caller) { promise.end($0.map(Answer.document)) }
    }

    /// What has been read from the log, as soon as it is there.
    ///
    /// - Parameter event: what to wait for before it is read.
    func reading(
        for caller: Caller, waitingFor event: LogWaits.Event? = nil,
        _ read: @escaping @LoopActor (any EventLog) async throws(EventLogError) -> Answer
    ) throws(Failure) -> Response {
        // Events never change, so no later write has to wait.
        let promise = Promise(about: .order)
        func begin() throws(Failure) {
            try historyQueue.add(for: caller) { [history] in
                do throws(EventLogError) {
                    promise.keep(try await read(history))
                } catch {
                    promise.fail(.unavailable("\(error)"))
                }
            }
        }
        if let event, partitions[event.partition].position < event.position {
            try logWaits.add(event, for: caller) { isStopping in
                if isStopping { return promise.fail(.unavailable("the server is stopping")) }
                do throws(Failure) { try begin() } catch { promise.fail(error) }
            }
        } else {
            try begin()
        }
        return .promise(promise)
    }
}

extension Promise {
    /// Gives what became of a command.
    fileprivate func end(_ outcome: CommandOutcome) {
        switch outcome {
        case .accepted(.version(let version)): keep(.integer(version))
        case .accepted(.count(let count)): keep(.integer(Int64(count)))
        case .accepted(.order(let order)): keep(.text(order.rawValue))
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

extension Text {
    /// Refuses a text out of bounds before it is sealed.
    fileprivate func check(_ field: String, _ bounds: ClosedRange<Int>) throws(Failure) {
        do throws(Rejection) {
            try TextRules.check(self, field, bounds)
        } catch {
            throw Failure(error)
        }
    }
}
