// The domain: outlets, menus, carts and orders as pure values.
//
// Each aggregate is a `Decider`. It promises that the same state and command always give the same events or
// the same rejection: time, ids, prices and chance come in with the command, and nothing here does I/O.

/// A pure aggregate: what may happen (`decide`), and what happening means (`evolve`).
public protocol Decider {
    /// What somebody asks for. Carries everything the decision needs from outside.
    associatedtype Command
    /// What happened. A fact, never taken back.
    associatedtype Event
    /// What the events so far amount to.
    associatedtype State

    /// The state before the first event.
    static var initial: State { get }

    /// The events that fulfil the command in this state; none where it is already so.
    static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event]

    /// Takes one event into the state. Checks no rules: those were checked when the event was decided.
    ///
    /// - Throws: ``ImpossibleEvent`` where the history cannot have happened, such as an event on a line that
    ///   was never added. The state stays as it was, and the stream is quarantined, never shown as empty.
    static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent)
}

/// A history that no sequence of accepted commands can have produced.
public struct ImpossibleEvent: Error, Equatable, CustomStringConvertible {
    /// What is wrong, for an operator.
    public let description: String

    /// An impossible event, with what is wrong about it.
    public init(_ description: String) {
        self.description = description
    }
}
