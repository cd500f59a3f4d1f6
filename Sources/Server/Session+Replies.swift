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
            stream: stream, metadata: try metadata(of: arguments, options),
            expectedVersion: try options.expectedVersion, command: command)
        let promise = promise(about: stream.category)
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

    private func metadata(of arguments: Arguments, _ options: CallOptions) throws(Failure) -> EventMetadata {
        let metadata = try options.metadata(of: arguments)
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
        server.engine.past(question) { answer in
            do throws(Failure) {
                let document = try answer.get()
                promise.fulfil { replies in
                    if let document { replies.bulk(document) } else { replies.null() }
                }
            } catch {
                promise.fail(error)
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
