internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import LineProtocol

extension Session {
    /// Submits a write, and answers once its outcome is durable.
    func submit(
        _ stream: StreamName, _ arguments: Arguments, _ options: CallOptions,
        command: @escaping (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) {
        let request = CommandRequest(
            stream: stream, metadata: recorded(try options.metadata(of: arguments)),
            expectedVersion: try options.expectedVersion, command: command)
        submit(request, promise(about: stream.category))
    }

    /// Submits a write of a customer's as soon as their key is there, with the text that is the value of an option
    /// sealed.
    ///
    /// - Parameter command: makes the command with the sealed text.
    func submit(
        _ stream: StreamName, _ arguments: Arguments, _ options: CallOptions, of customer: Identifier,
        sealing text: String?, in option: String, as kind: TextKind,
        command: @escaping (SealedText?) -> (AggregateState, Int64) -> DomainCommand
    ) throws(Failure) {
        let metadata = try options.metadata(of: arguments, sealing: option)
        let expectedVersion = try options.expectedVersion
        let owner = TextOwner(customer: customer, cart: stream.id)
        let promise = promiseHolding(about: stream.category)
        server.engine.locksmith.makeKey(of: owner) { [self] key in
            switch key {
            case .success(.known(let key)):
                let sealed = text.map { key.seal($0, kind, of: owner) }
                let request = CommandRequest(
                    stream: stream, metadata: recorded(metadata(sealed)), expectedVersion: expectedVersion,
                    command: command(sealed))
                submit(request, promise)
            case .success(.destroyed): promise.fail(.forgotten)
            case .success(.unknown): promise.fail(.unavailable("no key could be made"))
            case .failure(let failure): promise.fail(failure)
            }
        }
    }

    private func submit(_ request: CommandRequest, _ promise: PromisedReply) {
        server.engine.submit(request) { outcome in
            LoopActor.assumeIsolated {
                guard case .accepted(let reply) = outcome else { return promise.fail(Failure(outcome)) }
                promise.fulfil { replies in
                    switch reply {
                    case .version(let version): replies.integer(version)
                    case .count(let count): replies.integer(Int64(count))
                    case .order(let order): replies.bulk(order.rawValue)
                    }
                }
            }
        }
    }

    /// The metadata as it comes into the log: unchanged, but for a planted fault.
    private func recorded(_ metadata: EventMetadata) -> EventMetadata {
        #if DEBUG
            let fault = server.configuration.plantedFault
            if metadata.commandID != nil, fault?.strikes(.lostID) ?? false { return .none }
        #endif
        return metadata
    }

    /// Answers with a document of the past, or null, as soon as it is known.
    func replyLater(withPast question: Archive.Question) {
        // Nothing that is written later changes it, so it keeps no write waiting.
        let promise = promise(about: .order)
        server.engine.past(question) { [self] answer in
            switch answer {
            case .success(let document): give(document, promise)
            case .failure(let failure): promise.fail(failure)
            }
        }
    }

    /// Gives a promised document, or null, as soon as its texts can be opened.
    func give(_ document: SealedDocument?, _ promise: PromisedReply) {
        guard let document else { return promise.fulfil { $0.null() } }
        server.engine.locksmith.open(document) { bytes in
            switch bytes {
            case .success(let bytes): promise.fulfil { $0.bulk(bytes) }
            case .failure(let failure): promise.fail(failure)
            }
        }
    }

    /// Answers with a document, or null.
    func reply(document: [UInt8]?) {
        reply { replies in
            if let document { replies.bulk(document) } else { replies.null() }
        }
    }
}

extension Failure {
    /// The error that a command was answered with; it must not have been accepted.
    fileprivate init(_ outcome: CommandOutcome) {
        switch outcome {
        case .accepted: preconditionFailure("an accepted command is no failure")
        case .rejected(let rejection): self.init(rejection)
        case .corrupt(let corruption): self.init(corruption)
        case .busy: self = .busy
        case .unavailable(let reason): self = .unavailable(reason)
        case .unknown(let reason): self = .unknown(reason)
        }
    }
}
