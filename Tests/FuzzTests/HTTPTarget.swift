import HTTP

/// How a stream of requests is cut changes nothing, what waits for more is bounded, and what was read is the same
/// request when it is written again.
enum HTTPTarget {
    /// Small, so that short inputs reach every one of them.
    private static let limits = {
        var limits = HTTPLimits()
        limits.headBytes = 120
        limits.fieldCount = 6
        limits.bodyBytes = 40
        return limits
    }()

    private struct Request: Equatable {
        var line: String
        var host: String
        var keepsAlive: Bool
        var body: [UInt8]

        var written: [UInt8] {
            let connection = keepsAlive ? "" : "Connection: close\r\n"
            return Array(
                "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(connection)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
    }

    private struct Reading: Equatable {
        var requests: [Request] = []
        var refusal: HTTPRefusal?
        var rest = 0
    }

    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        let (whole, cut) = (read([input.bytes], limits), read(input.chunks, limits))
        try promise(cut == whole, "cut, \(whole) is read as \(cut)")
        try promise(whole.rest <= limits.headBytes + limits.bodyBytes, "\(whole.rest) bytes wait for more")
        let again = read([whole.requests.flatMap(\.written)], HTTPLimits())
        try promise(again == Reading(requests: whole.requests), "\(whole.requests) is written as \(again)")
        let text = String(decoding: input.bytes, as: UTF8.self)
        _ = FormText.items(ofQuery: text)
        _ = FormText.segments(ofPath: "/" + text)
        _ = EntityTag("1").isNamed(in: text)
        _ = Cookies.value(of: "a", in: text)
    }

    private static func read(_ chunks: [[UInt8]], _ limits: HTTPLimits) -> Reading {
        var parser = HTTPRequestParser()
        var input: [UInt8] = []
        var reading = Reading()
        for chunk in chunks {
            input += chunk
            var isWaiting = false
            while !isWaiting {
                let consumed: Int? = Array(input).withUnsafeBytes { bytes in
                    switch parser.next(bytes, within: limits) {
                    case .request(let request, let length):
                        reading.requests.append(
                            Request(
                                line: request.method + " " + request.path + (request.query.map { "?" + $0 } ?? ""),
                                host: request.host, keepsAlive: request.keepsAlive, body: Array(request.body)))
                        return length
                    case .incomplete:
                        isWaiting = true
                        return 0
                    case .failure(let refusal):
                        reading.refusal = refusal
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
