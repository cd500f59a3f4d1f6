/// What subscribers of homes and carts were sent, until the log says what they had to be sent: each message once,
/// however many heard it.
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
    /// Messages that were too many to be kept.
    private(set) var dropped = 0

    /// Keeps a message, if no one was sent the same.
    mutating func keep(_ channel: String, _ message: Follower.Message, _ text: [UInt8]) {
        var known = messages[channel, default: [:]][message.to] ?? []
        guard !known.contains(where: { $0.text == text }) else { return }
        guard size + text.count <= MessageStore.limit else { return dropped += 1 }
        // The parsed patch takes several times the room of its text.
        size += 8 * text.count
        known.append(Message(from: message.from, patch: message.patch, text: text))
        messages[channel, default: [:]][message.to] = known
    }
}
