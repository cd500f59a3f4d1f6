internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop

/// What is done with a partition's events as the follower of its log passes them on: they are folded into the read
/// model, and the audience hears of them.
@LoopActor
final class Folding {
    private let model: LiveModel
    private let audience: Audience
    private let configuration: Configuration
    private let logger: Logger
    /// What the log was found to lack.
    let damage: LogDamage

    init(into model: LiveModel, _ audience: Audience, _ configuration: Configuration, _ logger: Logger) {
        self.model = model
        self.audience = audience
        self.configuration = configuration
        self.logger = logger
        damage = LogDamage(logger)
    }

    // The follower knows no event loop, and calls on its thread.

    /// The next events.
    nonisolated func fold(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        LoopActor.assumeIsolated {
            for corruption in model.fold(events, configuration) { logger.error(corruption) }
            audience.hear(events, model.value)
        }
    }

    /// The log has no events there.
    nonisolated func pass(_ missing: MissingEvents) {
        LoopActor.assumeIsolated {
            model.pass(missing: missing.positions)
            damage.take(missing)
        }
    }

    /// What the log has there is not wanted here.
    nonisolated func passOver(_ positions: ClosedRange<Int64>) {
        LoopActor.assumeIsolated { model.pass(missing: positions) }
    }

    /// The model has become another, in which those outlets look otherwise.
    func replaced(_ outlets: Set<Identifier>) { audience.hear(outlets, model.value) }
}

extension Logger {
    /// Says that a stream is quarantined.
    func error(_ corruption: CorruptEvent) {
        error("stream '\(corruption.stream)' is corrupt at \(corruption.position): \(corruption.reason)")
    }
}
