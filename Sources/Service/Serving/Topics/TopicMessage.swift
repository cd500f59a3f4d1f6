package import EventLoop

/// A message to the subscribers of a topic, shared by all of them.
@LoopActor
package final class TopicMessage {
    /// The channel, `home:copper-ladle`.
    package nonisolated let channel: String
    /// The revision that it leads on from; nil where it says where a topic stands: for a new subscriber, or if there is
    /// no document.
    package nonisolated let from: Int64?
    /// The revision that it leads to.
    package nonisolated let revision: Int64
    /// The message, as JSON text.
    package nonisolated let data: [UInt8]
    private var encodings: [Int: [UInt8]] = [:]

    init(channel: String, from: Int64? = nil, revision: Int64, data: [UInt8]) {
        self.channel = channel
        self.from = from
        self.revision = revision
        self.data = data
    }

    /// The message as a front encodes it: made once, however many clients it goes to.
    ///
    /// - Parameter format: tells the encodings of all fronts apart.
    package func encoded(as format: Int, _ encode: () -> [UInt8]) -> [UInt8] {
        if let bytes = encodings[format] { return bytes }
        let bytes = encode()
        encodings[format] = bytes
        return bytes
    }
}
