/// The messages that subscribers of homes and carts were sent, kept until the log says what they should have been:
/// each message once, however many subscribers got it.
struct MessageStore {
    /// The most bytes of messages that are kept.
    static let limit = 256 << 20

    struct Message: Equatable {
        var from: Int64
        var patch: [JSON]
        var text: [UInt8]
    }

    /// By the channel, and by the revision they lead to.
    private(set) var messages: [String: [Int64: [Message]]] = [:]
    private var size = 0
    /// How many messages were not kept, because there were too many.
    private(set) var dropped = 0

    /// Keeps a message, unless the same one was kept before.
    mutating func keep(_ channel: String, _ message: Follower.Message, _ text: [UInt8]) {
        var known = messages[channel, default: [:]][message.to] ?? []
        guard !known.contains(where: { $0.text == text }) else { return }
        guard size + text.count <= MessageStore.limit else { return dropped += 1 }
        // The parsed patch takes several times as much memory as its text.
        size += 8 * text.count
        known.append(Message(from: message.from, patch: message.patch, text: text))
        messages[channel, default: [:]][message.to] = known
    }
}
