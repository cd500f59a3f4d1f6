/// A document as an address answered it.
public struct HTTPDocument: Equatable, Sendable {
    /// The document, decompressed.
    public var bytes: [UInt8]
    /// By what to ask whether it has changed.
    public var validators: HTTPValidators

    /// A document with its validators, if it has any.
    public init(_ bytes: [UInt8], _ validators: HTTPValidators = HTTPValidators()) {
        self.bytes = bytes
        self.validators = validators
    }
}

/// By what an address can be asked whether its document has changed.
public struct HTTPValidators: Equatable, Sendable {
    /// The most bytes of each.
    public static let maximumLength = 300

    /// The `ETag` of an answer.
    public var etag: String?
    /// The `Last-Modified` of an answer, as it was written.
    public var modified: String?

    /// Validators of an answer, or none.
    public init(etag: String? = nil, modified: String? = nil) {
        self.etag = etag
        self.modified = modified
    }

    /// Whether a text can be the value of a header: nothing in it ends the header.
    static func isValid(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

/// Why there is no document. The text continues a sentence that begins with the address.
public struct HTTPError: Error, Equatable, CustomStringConvertible {
    /// The reason, for people.
    public let description: String
    /// The status of the answer, if that is what is wrong.
    public let status: Int?
    /// Whether the question was sent: a server was reached, and its certificate is right.
    public internal(set) var isSent: Bool
    /// For how long the server asks to be left alone, in seconds; 0 if it does not.
    public internal(set) var retryAfter: Int64 = 0

    init(_ description: String, status: Int? = nil, isSent: Bool = true) {
        self.description = description
        self.status = status
        self.isSent = isSent
    }
}
