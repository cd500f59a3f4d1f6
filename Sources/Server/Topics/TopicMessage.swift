internal import EventLoop
internal import LineProtocol

/// A message to the subscribers of a topic, encoded once for each version of the protocol that one of them speaks.
struct TopicMessage {
    let channel: String
    let data: [UInt8]
    private var frames: [ProtocolVersion: [UInt8]] = [:]

    init(channel: String, data: [UInt8]) {
        self.channel = channel
        self.data = data
    }

    /// The message as it is sent.
    mutating func frame(in version: ProtocolVersion) -> [UInt8] {
        if let frame = frames[version] { return frame }
        var buffer = ReplyBuffer(version: version, capacity: 64 + channel.utf8.count + data.count)
        buffer.push(3)
        buffer.bulk("message")
        buffer.bulk(channel)
        buffer.bulk(data)
        let frame = Array(buffer.bytes)
        frames[version] = frame
        return frame
    }
}
