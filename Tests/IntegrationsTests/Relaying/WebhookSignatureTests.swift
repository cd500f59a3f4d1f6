import Foundation
import Testing

@testable import Integrations

@Suite struct WebhookSignatureTests {
    /// The example of the specification's own libraries.
    @Test func `the signature is that of Standard Webhooks`() throws {
        let key = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = WebhookSecret(Array(key)).signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    /// Test cases 1 and 6 of RFC 4231 have a short key and one that is longer than a block; here with a message that
    /// begins as every message does.
    @Test(arguments: [20, 64, 65, 131]) func `keys of any length are taken`(length: Int) {
        let secret = WebhookSecret(Array(repeating: 0xAA, count: length))
        let signature = secret.signature(id: "0-1", timestamp: 1, body: Array("{}".utf8))
        #expect(signature == WebhookSignatureTests.known[length])
    }

    @Test func `a new secret is another one, and is shown as receivers take it`() throws {
        let (first, second) = (WebhookSecret.random(), WebhookSecret.random())
        #expect(first.bytes != second.bytes)
        #expect(first.text.hasPrefix("whsec_"))
        #expect(Data(base64Encoded: String(first.text.dropFirst(6))) == Data(first.bytes))
        #expect((24...64).contains(first.bytes.count))
    }

    /// By Python's `hmac`.
    private static let known = [
        20: "v1,KATIIWtEfnxBknas5eP7S2YIrTUBFvHrleYBn3xPowE=",
        64: "v1,WmgQxGcnu5AIc/8qmZkbAC+RtCAiAOR6igirz7/LGtg=",
        65: "v1,Gnt1k1E4Mcwee/WUiBUN1BmoFgQcXbKJn5Wt8/jLbjY=",
        131: "v1,BrHgTz3thVW2k3ARB5uZlUhI6mvnXzl2xY0ACHALE0c=",
    ]
}
