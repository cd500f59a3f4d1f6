import LineProtocol
import TextFormats

/// How a stream of requests is cut changes nothing, whether its client has logged in or not; and what a client writes
/// is what the server reads.
enum RequestTarget {
    /// Small, so that short inputs reach every one of them.
    static let limits = {
        var limits = RequestLimits()
        limits.lineLength = 64
        limits.bulkLength = 80
        limits.argumentCount = 12
        limits.requestLength = 200
        limits.unauthenticatedArgumentCount = 4
        limits.unauthenticatedBulkLength = 24
        return limits
    }()

    struct Reading: Equatable {
        var requests: [[[UInt8]]] = []
        var failure: ProtocolError?
        /// Bytes left over for an incomplete request.
        var rest = 0
    }

    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        let whole = read([input.bytes], limits, isAuthenticated: !input.isFlagged)
        let cut = read(input.chunks, limits, isAuthenticated: !input.isFlagged)
        try promise(cut == whole, "cut, \(whole) is read as \(cut)")
        try promise(whole.requests.allSatisfy { !$0.isEmpty }, "a request without a name")
        try promise(whole.rest <= limits.requestLength + limits.lineLength, "\(whole.rest) bytes wait for more")

        var writer = RequestWriter()
        for request in whole.requests { writer.write(request) }
        let again = read([Array(writer.bytes)], RequestLimits(), isAuthenticated: true)
        try promise(again == Reading(requests: whole.requests), "\(whole.requests) is written as \(again)")
    }

    /// Offers chunks to a parser as a connection would, but each time in memory of their own that ends where they do.
    static func read(_ chunks: [[UInt8]], _ limits: RequestLimits, isAuthenticated: Bool) -> Reading {
        var parser = RequestParser()
        var input: [UInt8] = []
        var reading = Reading()
        for chunk in chunks {
            input += chunk
            var isWaiting = false
            while !isWaiting {
                let consumed: Int? = Array(input).withUnsafeBytes { bytes in
                    switch parser.next(bytes, within: limits, isAuthenticated: isAuthenticated) {
                    case .request(let arguments, let consumed):
                        reading.requests.append(arguments.map { Array($0.bytes) })
                        return consumed
                    case .incomplete(let consumed):
                        isWaiting = true
                        return consumed
                    case .failure(let error):
                        reading.failure = error
                        return nil
                    }
                }
                guard let consumed else { return reading }
                input.removeFirst(consumed)
            }
        }
        reading.rest = input.count
        return reading
    }
}
