import LineProtocol
import SeededRandom
import Testing
import TextFormats

extension SeededGenerator {
    mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: counts, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Chunks that together make up `bytes`.
    mutating func chunks(of bytes: [UInt8]) -> [[UInt8]] {
        var rest = bytes[...]
        var chunks: [[UInt8]] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(rest.count, 20), using: &self)
            chunks.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return chunks
    }
}

/// What a parser made from a connection's bytes, copied.
struct Reading: Equatable, CustomStringConvertible {
    var requests: [[[UInt8]]] = []
    var failure: ProtocolError?
    /// Bytes left over for an incomplete request.
    var rest = 0

    var description: String {
        let words = requests.map { $0.map { String(decoding: $0, as: UTF8.self) } }
        return "\(words), failure: \(failure.map { $0.message } ?? "none"), rest: \(rest)"
    }
}

/// Offers chunks to a parser as a connection would.
func read(
    _ chunks: [[UInt8]], within limits: RequestLimits = RequestLimits(), isAuthenticated: Bool = true
) -> Reading {
    var parser = RequestParser()
    var input = ByteBuffer()
    var reading = Reading()
    for chunk in chunks {
        input.append(chunk)
        while true {
            switch parser.next(input.bytes, within: limits, isAuthenticated: isAuthenticated) {
            case .request(let arguments, let consumed):
                reading.requests.append(arguments.map { Array($0.bytes) })
                input.consume(consumed)
                continue
            case .incomplete(let consumed):
                input.consume(consumed)
            case .failure(let error):
                reading.failure = error
                return reading
            }
            break
        }
    }
    reading.rest = input.count
    return reading
}

func read(_ text: String, isAuthenticated: Bool = true) -> Reading {
    read([Array(text.utf8)], isAuthenticated: isAuthenticated)
}

/// The words of a line, or why it has none.
func words(of line: String) -> Result<[String], ProtocolError> {
    let reading = read(line + "\r\n")
    if let failure = reading.failure { return .failure(failure) }
    return .success((reading.requests.first ?? []).map { String(decoding: $0, as: UTF8.self) })
}

extension RequestWriter {
    static func encode(_ requests: [[[UInt8]]]) -> [UInt8] {
        var writer = RequestWriter()
        requests.forEach { writer.write($0) }
        return Array(writer.bytes)
    }
}

/// Bytes that are not a request, or not a reply, and their error; shown shortened.
struct Malformed<Failure: Error>: CustomTestStringConvertible {
    var text: String
    var error: Failure

    init(_ text: String, _ error: Failure) {
        self.text = text
        self.error = error
    }

    var testDescription: String { "\(text.prefix(40).debugDescription): \(error)" }
}
