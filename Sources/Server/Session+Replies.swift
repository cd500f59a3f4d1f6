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
            stream: stream, metadata: try options.metadata(of: arguments),
            expectedVersion: try options.expectedVersion, command: command)
        let fulfil = promise(about: stream.category)
        let server = server
        server.engine.submit(request) { outcome in
            LoopActor.assumeIsolated {
                fulfil { replies in
                    switch outcome {
                    case .accepted(.version(let version)): replies.integer(version)
                    case .accepted(.count(let count)): replies.integer(Int64(count))
                    case .accepted(.order(let order)): replies.bulk(order.rawValue)
                    case .rejected, .corrupt, .busy, .unavailable, .unknown:
                        let failure = Failure(outcome)
                        replies.error(failure.code, failure.message)
                        server.statistics.errors += 1
                    }
                }
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
