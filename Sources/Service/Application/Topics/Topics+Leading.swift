internal import EventLoop
internal import TextFormats

// Subscribers that have to be led to where a topic stands: because they have just come, or could not take every message.
extension Topics {
    /// Gives the message that leads from a revision to what the topic's subscribers know, at once or as soon as it is
    /// known. Every later message of the topic leads on from there; those that come before it belong to others.
    ///
    /// - Parameters:
    ///   - channel: what the subscriber listens to. Nothing happens if it does not, or not any more.
    ///   - revision: that of the document that the subscriber has. With nil, or where the document of that revision is
    ///     not known any more, the message has the whole document.
    ///   - isFollower: whether the subscriber takes messages that lead on from each other. Then one with the whole
    ///     document does, too.
    package func lead(
        _ subscriber: Subscriber, on channel: String, from revision: Int64?, isFollower: Bool = false,
        completion: @escaping @LoopActor (TopicMessage) -> Void
    ) {
        guard let topic = subscriber.subscriptions[channel] else { return }
        if let failure = topic.failure { return completion(Topics.message(of: topic, failure)) }
        guard let document = topic.sent else {
            topic.awaiting.append { [weak self] in
                self?.lead(
                    subscriber, on: channel, from: revision, isFollower: isFollower, completion: completion)
            }
            return enqueue(topic)
        }
        let start = isFollower ? revision : nil
        guard let revision, let patch = topic.kind.patch else {
            return completion(Topics.whole(topic, document, from: start))
        }
        guard revision != document.revision else {
            return completion(
                Topics.message(of: topic, from: revision, to: revision, Topics.emptyPatch))
        }
        patch(application, topic, revision, subscriber.caller) { patch in
            guard let document = topic.sent, subscriber.subscriptions[channel] === topic else { return }
            if let failure = topic.failure { return completion(Topics.message(of: topic, failure)) }
            completion(
                patch.map { Topics.message(of: topic, from: revision, to: document.revision, $0) }
                    ?? Topics.whole(topic, document, from: start))
        }
    }

    private static func whole(_ topic: Topic, _ document: TopicDocument, from revision: Int64?) -> TopicMessage {
        message(
            of: topic, from: revision ?? document.revision, to: document.revision,
            JSONPatch.replacement(with: document.json))
    }
}
