/// What a server answered, as a client sees it.
public indirect enum Reply: Equatable, Sendable {
    /// A key of a map and its value.
    public struct Pair: Equatable, Sendable {
        /// The key.
        public var key: Reply
        /// The value.
        public var value: Reply

        /// A key and its value.
        public init(_ key: Reply, _ value: Reply) {
            self.key = key
            self.value = value
        }
    }

    case simple(String)
    /// The code is the first word, the message is the rest.
    case error(code: String, message: String)
    case integer(Int64)
    case bulk([UInt8])
    /// The format is three characters: `txt` or `mkd`.
    case verbatim(format: String, text: String)
    /// Null, in any of its three spellings.
    case null
    case boolean(Bool)
    case double(Double)
    /// The digits of an integer of any size.
    case bigNumber(String)
    case array([Reply])
    case map([Pair])
    case set([Reply])
    case push([Reply])

    /// The text of a simple, bulk or verbatim string; nil for others, and for what is not UTF-8.
    public var string: String? {
        switch self {
        case .simple(let text), .verbatim(_, let text): text
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }
}
