internal import Application
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// Subscriptions to what changes, with Redis's commands for them.
enum SubscriptionCommands {
    static let all: [LineCommand] = [
        LineCommand(
            "SUBSCRIBE", .browsing, role: .customer, isForSubscribers: true,
            "Subscribes to channels: each change of a home, a cart, an order, a kitchen or a saved query's answer comes as a message."
        ) { parameters in
            let channels = parameters.repeated(
                "channel", accepting: "a channel such as home:copper-ladle", of: .channels)
            return { session, call throws(Failure) in
                var names: [TopicName] = []
                for channel in call[channels] { names.append(try TopicName(channel)) }
                let topics = session.server.service.topics
                let counts = try topics.subscribe(session.subscriber, to: names, within: call.confinement)
                session.reply { replies in
                    for (name, count) in zip(names, counts) {
                        replies.subscription("subscribe", Array(name.channel.utf8), count)
                    }
                }
                topics.greet(session.subscriber, about: names)
            }
        },
        LineCommand(
            "UNSUBSCRIBE", .browsing, isForSubscribers: true,
            "Ends subscriptions to channels, or all of them."
        ) { parameters in
            let channels = parameters.repeated("channel", accepting: "a channel", isOptional: true)
            return { session, call throws(Failure) in
                let (topics, subscriber) = (session.server.service.topics, session.subscriber!)
                // A channel that is no topic's name, to the byte, has no subscription.
                var channels = call[channels].map { (bytes: Array($0.bytes), name: (try? TopicName($0))?.channel) }
                if channels.isEmpty { channels = subscriber.channels.map { (bytes: Array($0.utf8), name: $0) } }
                let counts = channels.map { channel in
                    if let name = channel.name { topics.unsubscribe(subscriber, from: name) }
                    return subscriber.subscriptionCount
                }
                session.reply { replies in
                    for (channel, count) in zip(channels, counts) {
                        replies.subscription("unsubscribe", channel.bytes, count)
                    }
                    if channels.isEmpty { replies.subscription("unsubscribe", nil, 0) }
                }
            }
        },
    ]
}

extension ReplyBuffer {
    /// What Redis sends when a subscription begins or ends: the channel, and how many there are now.
    mutating func subscription(_ kind: StaticString, _ channel: [UInt8]?, _ count: Int) {
        push(3)
        bulk(kind)
        if let channel { bulk(channel) } else { null() }
        integer(Int64(count))
    }
}
