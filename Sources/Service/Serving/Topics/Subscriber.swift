package import Application
package import EventLoop

/// A client of a front, as the topics know it.
@LoopActor
package final class Subscriber {
    /// What it listens to, by channel; kept by ``Topics``.
    var subscriptions: [String: Topic] = [:]
    /// Whose share its subscriptions are a part of; kept by ``Topics``.
    var caller: Caller
    /// The number of its connection.
    let client: Int64
    let receive: @LoopActor (TopicMessage) -> Void

    /// - Parameters:
    ///   - client: the number of its connection, from 1.
    ///   - caller: whose share its subscriptions are a part of.
    ///   - receive: sends a message to the client.
    package init(_ client: Int64, of caller: Caller, receive: @escaping @LoopActor (TopicMessage) -> Void) {
        self.client = client
        self.caller = caller
        self.receive = receive
    }

    /// How many topics it listens to.
    package var subscriptionCount: Int { subscriptions.count }

    /// What it listens to, in the order of the bytes.
    package var channels: [String] { subscriptions.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

// By its number, for the same reason as topics.
extension Subscriber: Hashable {
    package nonisolated static func == (a: Subscriber, b: Subscriber) -> Bool { a === b }
    package nonisolated func hash(into hasher: inout Hasher) { hasher.combine(client) }
}
