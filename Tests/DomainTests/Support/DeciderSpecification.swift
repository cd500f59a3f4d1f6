// How the tests of the domain are written: given what happened, when a command comes, then this follows. All random
// values come from a seed, which a failure names.

import Domain
import SeededRandom
import Testing

/// `given(events).when(command).then(events)`, or `.thenRejected(code)`, for any decider.
struct DeciderSpecification<D: Decider> where D.Event: Equatable, D.State: Equatable {
    private let history: [D.Event]
    private let command: D.Command

    /// A history, waiting for its command.
    struct Given {
        fileprivate let history: [D.Event]

        func when(_ command: D.Command) -> DeciderSpecification {
            DeciderSpecification(history: history, command: command)
        }
    }

    static func given(_ history: [D.Event] = []) -> Given { Given(history: history) }

    /// Expects these events, and that they can happen.
    func then(_ expected: [D.Event], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: Never.self, sourceLocation: sourceLocation) {
            let state = try D.state(after: history)
            let events = try D.decide(command, in: state)
            #expect(events == expected, sourceLocation: sourceLocation)
            _ = try D.state(after: events, from: state)
        }
    }

    /// Expects a rejection with that code, whose message has these parts; about that value and with what is allowed
    /// instead, if these are given.
    func thenRejected(
        _ code: Rejection.Code, naming parts: [String] = [], about subject: Rejection.Subject? = nil,
        allowed: [Rejection.Action] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let rejection = #expect(throws: Rejection.self, sourceLocation: sourceLocation) {
            _ = try D.decide(command, in: D.state(after: history))
        }
        guard let rejection else { return }
        #expect(rejection.code == code, "\(rejection.message)", sourceLocation: sourceLocation)
        for part in parts {
            #expect(rejection.message.contains(part), sourceLocation: sourceLocation)
        }
        if let subject { #expect(rejection.subject == subject, sourceLocation: sourceLocation) }
        if !allowed.isEmpty { #expect(rejection.allowed == allowed, sourceLocation: sourceLocation) }
    }
}

extension Decider {
    /// The state after a history.
    static func state(after events: some Sequence<Event>, from start: State? = nil) throws(ImpossibleEvent) -> State {
        var state = start ?? initial
        for event in events { try evolve(&state, event) }
        return state
    }
}

extension Decider {
    /// What a command leads to where nothing speaks against it. Where something does, expects it to be refused for one
    /// of the reasons, and returns nil.
    static func events(
        of command: Command, in state: State, unless reasons: Set<Rejection.Code>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Event]? {
        do throws(Rejection) {
            let events = try decide(command, in: state)
            #expect(reasons.isEmpty, "not refused", sourceLocation: sourceLocation)
            return events
        } catch {
            #expect(reasons.contains(error.code), "\(error.message)", sourceLocation: sourceLocation)
            return nil
        }
    }
}

/// One row of a table of cases.
struct DeciderCase<D: Decider>: Sendable, CustomTestStringConvertible
where D.Command: Sendable, D.Event: Equatable & Sendable, D.State: Equatable {
    /// What is expected.
    enum Outcome: Sendable {
        case events([D.Event])
        case rejected(
            Rejection.Code, naming: [String] = [], about: Rejection.Subject? = nil, allowed: [Rejection.Action] = [])
    }

    let testDescription: String
    let history: [D.Event]
    let command: D.Command
    let outcome: Outcome

    init(_ description: String, given history: [D.Event] = [], when command: D.Command, then outcome: Outcome) {
        testDescription = description
        self.history = history
        self.command = command
        self.outcome = outcome
    }

    func check() {
        let specification = DeciderSpecification<D>.given(history).when(command)
        switch outcome {
        case .events(let events): specification.then(events)
        case .rejected(let code, let parts, let subject, let allowed):
            specification.thenRejected(code, naming: parts, about: subject, allowed: allowed)
        }
    }
}
