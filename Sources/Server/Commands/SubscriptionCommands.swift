internal import EventLoop
internal import LineProtocol

/// Listening to what changes, with Redis's commands for that.
enum SubscriptionCommands {
    static let all: [Command] = [
        Command(
            "SUBSCRIBE", .browsing, role: .customer, isForSubscribers: true,
            "Listens to channels: each change of a home, a cart or a saved answer comes as a message.",
            [.value("channel", repeated: true)]
        ) { session, arguments throws(Failure) in
            var names: [TopicName] = []
            for argument in arguments.dropFirst() { names.append(try TopicName(argument)) }
            let topics = session.server.topics
            let counts = try topics.subscribe(session, to: names)
            session.reply { replies in
                for (name, count) in zip(names, counts) {
                    replies.push(3)
                    replies.bulk("subscribe")
                    replies.bulk(name.channel)
                    replies.integer(Int64(count))
                }
            }
            topics.greet(session, about: names)
        },
        Command(
            "UNSUBSCRIBE", .browsing, role: .customer, isForSubscribers: true,
            "Listens to channels no more, or to none at all.",
            [.optional("channel", repeated: true)]
        ) { session, arguments throws(Failure) in
            let topics = session.server.topics
            var channels = arguments.dropFirst().map { Array($0.bytes) }
            if channels.isEmpty { channels = session.subscriptions.keys.sorted().map { Array($0.utf8) } }
            let counts = channels.map { channel in
                topics.unsubscribe(session, from: String(decoding: channel, as: UTF8.self))
                return session.subscriptions.count
            }
            session.reply { replies in
                for (channel, count) in zip(channels, counts) {
                    replies.push(3)
                    replies.bulk("unsubscribe")
                    replies.bulk(channel)
                    replies.integer(Int64(count))
                }
                guard channels.isEmpty else { return }
                replies.push(3)
                replies.bulk("unsubscribe")
                replies.null()
                replies.integer(0)
            }
        },
    ]
}
