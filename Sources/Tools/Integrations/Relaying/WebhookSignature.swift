internal import EventLog
internal import Foundation

/// What a relay signs its messages with, and how: as Standard Webhooks have it (standardwebhooks.com, version 1).
package struct WebhookSecret: Sendable {
    /// The number of random bytes of a new secret; the standard asks for 24 to 64.
    private static let length = 32
    private static let prefix = "whsec_"

    /// The secret itself.
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A new secret.
    static func random() -> WebhookSecret {
        var generator = SystemRandomNumberGenerator()
        return WebhookSecret((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// The secret as receivers are told it.
    package var text: String { WebhookSecret.prefix + Data(bytes).base64EncodedString() }

    /// The value of `webhook-signature` for a message.
    ///
    /// - Parameter timestamp: when it is sent, in seconds since 1970.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        "v1," + Data(code(of: Array("\(id).\(timestamp).".utf8) + body).bytes).base64EncodedString()
    }

    /// HMAC-SHA256 (RFC 2104).
    private func code(of message: [UInt8]) -> Digest {
        let blockLength = 64
        var key = bytes.count > blockLength ? Digest.of(bytes).bytes : bytes
        key += Array(repeating: 0, count: blockLength - key.count)
        let inner = Digest.of(key.map { $0 ^ 0x36 } + message)
        return Digest.of(key.map { $0 ^ 0x5C } + inner.bytes)
    }
}
