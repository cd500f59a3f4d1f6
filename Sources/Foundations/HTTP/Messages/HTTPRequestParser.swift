/// Reads requests from the bytes of one connection.
///
/// It is given all bytes that have come and are not part of a request already, and remembers how far it has looked.
public struct HTTPRequestParser: Sendable {
    /// What the bytes are.
    public enum Step {
        /// They begin with a request of this many bytes. The next call is given what follows these.
        case request(HTTPRequest, length: Int)
        /// More bytes are needed. The next call is given the same bytes with more behind them.
        case incomplete
        /// They are none that should be answered. No further call makes sense.
        case failure(HTTPRefusal)
    }

    /// How many bytes have been looked at, while there is no head yet.
    private var scanned = 0
    /// The head, while its body is not complete.
    private var head: RequestHead?

    /// A parser at the beginning of a connection.
    public init() {}

    /// How many bytes the body has that is awaited; nil while the head is not complete.
    public var awaitedBody: Int? { head?.bodyLength }

    /// How many bytes there have to be at least before it is worth looking for the next request.
    public var neededBytes: Int { head.map { $0.length + $0.bodyLength } ?? scanned + 1 }

    /// The request whose body is awaited, without its body; nil while the head is not complete.
    ///
    /// - Parameter bytes: what ``next(_:within:)`` was given last.
    public func awaitedRequest(in bytes: UnsafeRawBufferPointer) -> HTTPRequest? {
        guard var head else { return nil }
        head.bodyLength = 0
        return HTTPRequest(bytes: bytes, head: head)
    }

    /// Whether the client waits for `100 Continue` before it sends the body: true once for a request.
    public mutating func takeContinue() -> Bool {
        guard let awaits = head?.awaitsContinue, awaits else { return false }
        head?.awaitsContinue = false
        return true
    }

    /// Looks for the next request.
    public mutating func next(_ bytes: UnsafeRawBufferPointer, within limits: HTTPLimits) -> Step {
        do throws(HTTPRefusal) {
            if head == nil {
                guard let length = try findEnd(of: bytes, limits) else { return .incomplete }
                let head = try HeadReader(UnsafeRawBufferPointer(rebasing: bytes[..<length])).head(within: limits)
                guard head.bodyLength <= limits.bodyBytes else { throw .bodyTooLarge }
                self.head = head
            }
            guard let head, bytes.count - head.length >= head.bodyLength else { return .incomplete }
            self.head = nil
            scanned = 0
            return .request(HTTPRequest(bytes: bytes, head: head), length: head.length + head.bodyLength)
        } catch {
            return .failure(error)
        }
    }

    /// The length of the head, or nil where its end has not come. Every byte is looked at once, and in order, so what
    /// is found does not depend on how the bytes came.
    private mutating func findEnd(of bytes: UnsafeRawBufferPointer, _ limits: HTTPLimits) throws(HTTPRefusal) -> Int? {
        while scanned < min(bytes.count, limits.headBytes) {
            let byte = bytes[scanned]
            let isAfterReturn = scanned > 0 && bytes[scanned - 1] == .carriageReturn
            guard isAfterReturn == (byte == .lineFeed) else { throw .bareLineEnd }
            scanned += 1
            if byte == .lineFeed, scanned >= 4, bytes[scanned - 3] == .lineFeed { return scanned }
        }
        guard bytes.count < limits.headBytes else { throw .headTooLarge }
        return nil
    }
}

/// Reads a head whose lines all end in CR LF, the last of them empty.
private struct HeadReader {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func head(within limits: HTTPLimits) throws(HTTPRefusal) -> RequestHead {
        var line = nextLine(from: 0)
        var (head, isVersion11) = try requestLine(line)
        line = nextLine(from: line.upperBound + 2)
        while !line.isEmpty {
            guard head.fields.count < limits.fieldCount else { throw .tooManyFields }
            head.fields.append(try field(line))
            line = nextLine(from: line.upperBound + 2)
        }
        head.length = bytes.count
        guard let host = try only("host", of: head, or: .malformedHost), isHost(host) else { throw .malformedHost }
        head.host = host
        guard !head.fields.contains(where: { has($0, "transfer-encoding") }) else { throw .transferCoding }
        if let length = try only("content-length", of: head, or: .malformedLength) {
            head.bodyLength = try self.length(length)
        }
        let connection = tokens(of: "connection", in: head)
        head.keepsAlive = isVersion11 && !connection.contains("close")
        let expectations = tokens(of: "expect", in: head)
        guard expectations.allSatisfy({ $0 == "100-continue" }) else { throw .unknownExpectation }
        head.awaitsContinue = isVersion11 && !expectations.isEmpty && head.bodyLength > 0
        return head
    }

    /// The line that begins there, without its end.
    private func nextLine(from start: Int) -> Range<Int> {
        var end = start
        while bytes[end] != .carriageReturn { end += 1 }
        return start..<end
    }

    // MARK: The request line

    private func requestLine(_ line: Range<Int>) throws(HTTPRefusal) -> (RequestHead, isVersion11: Bool) {
        let parts = bytes[line].split(separator: .space, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].count <= HeadReader.longestMethod,
            parts[0].allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { throw .malformedRequestLine }
        let target = parts[1]
        // Visible ASCII. What follows a # never leaves a browser.
        guard target.first == .slash, target.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { throw .malformedTarget }
        let version = parts[2]
        guard version.starts(with: "HTTP/".utf8) else { throw .malformedRequestLine }
        let isVersion11 = version.elementsEqual("HTTP/1.1".utf8)
        guard isVersion11 || version.elementsEqual("HTTP/1.0".utf8) else { throw .unsupportedVersion }
        let mark = target.firstIndex(of: UInt8(ascii: "?"))
        let head = RequestHead(
            method: parts[0].indices, path: target.startIndex..<(mark ?? target.endIndex),
            query: mark.map { $0 + 1..<target.endIndex }, host: 0..<0, fields: [], keepsAlive: false, length: 0,
            bodyLength: 0, awaitsContinue: false)
        return (head, isVersion11)
    }

    private static let longestMethod = 16

    // MARK: Fields

    private func field(_ line: Range<Int>) throws(HTTPRefusal) -> RequestHead.Field {
        guard !isBlank(bytes[line.lowerBound]) else { throw .foldedField }
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")), colon > line.lowerBound else {
            throw .malformedField
        }
        let name = line.lowerBound..<colon
        guard bytes[name].allSatisfy(HeadReader.isTokenByte) else { throw .malformedField }
        var value = colon + 1..<line.upperBound
        while let first = value.first, isBlank(bytes[first]) { value = first + 1..<value.upperBound }
        while let last = value.last, isBlank(bytes[last]) { value = value.lowerBound..<last }
        // Control characters belong to no value, but a tab does.
        guard bytes[value].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw .malformedField }
        return RequestHead.Field(name: name, value: value)
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == .space || byte == 0x09 }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private func has(_ field: RequestHead.Field, _ name: StaticString) -> Bool {
        HTTPRequest.isNamed(bytes, field.name, name)
    }

    /// The value of the field with this name; nil where there is none.
    private func only(
        _ name: StaticString, of head: RequestHead, or refusal: HTTPRefusal
    ) throws(HTTPRefusal) -> Range<Int>? {
        var value: Range<Int>?
        for field in head.fields where has(field, name) {
            guard value == nil else { throw refusal }
            value = field.value
        }
        return value
    }

    /// The words of a list in small letters.
    private func tokens(of name: StaticString, in head: RequestHead) -> [String] {
        var words: [String] = []
        for field in head.fields where has(field, name) {
            for word in bytes[field.value].split(separator: UInt8(ascii: ",")) {
                let text = String(decoding: word, as: UTF8.self).lowercased().drop(while: \.isWhitespace)
                let last = text.lastIndex { !$0.isWhitespace }
                words.append(last.map { String(text[...$0]) } ?? "")
            }
        }
        return words
    }

    private func isHost(_ value: Range<Int>) -> Bool {
        !value.isEmpty
            && bytes[value].allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "-._:[]".utf8.contains($0)
                }
            }
    }

    /// Digits and nothing else. A number that is too long is a body that is too long.
    private func length(_ value: Range<Int>) throws(HTTPRefusal) -> Int {
        guard !value.isEmpty, bytes[value].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw .malformedLength
        }
        guard let length = Int(String(decoding: bytes[value], as: UTF8.self)) else { throw .bodyTooLarge }
        return length
    }
}

extension UInt8 {
    static var carriageReturn: UInt8 { 0x0D }
    static var lineFeed: UInt8 { 0x0A }
    static var space: UInt8 { 0x20 }
    static var slash: UInt8 { UInt8(ascii: "/") }
}
