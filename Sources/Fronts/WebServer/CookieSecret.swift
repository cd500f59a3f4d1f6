internal import EventLog

/// 256 random bits that a browser keeps in a cookie, in 64 hexadecimal digits.
enum CookieSecret {
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }.hexadecimal
    }

    /// Whether a text has the form of one.
    static func isPlausible(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}
