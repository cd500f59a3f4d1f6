internal import CLibCurl

/// A document to be posted to an address. Redirects are not followed: the server there is not the one that was meant.
public struct HTTPPost: Sendable {
    private let url: String
    private let headers: [(name: String, value: String)]
    private let body: [UInt8]
    private let seconds: Int

    /// - Parameters:
    ///   - url: an absolute address, by `http` or `https`.
    ///   - headers: besides those that every request has. Names and values must not have the end of a line in them.
    ///   - body: the document.
    ///   - seconds: how long all of it may take.
    public init(_ url: String, headers: [(name: String, value: String)], body: [UInt8], seconds: Int) {
        self.url = url
        self.headers = headers
        self.body = body
        self.seconds = seconds
    }

    /// Posts the document. Blocks the thread.
    ///
    /// - Throws: where there is no answer, or another than a status from 200 to 299.
    public func send() throws(HTTPError) {
        // The body of the answer is of no use.
        let (status, retryAfter) = try post { call throws(HTTPError) in
            (try call.perform({ _, size, count, _ in size * count }, nil), tiffin_curl_retry_after(call.handle))
        }
        guard (200...299).contains(status) else {
            var error = HTTPError("is answered with status \(status)", status: status)
            error.retryAfter = retryAfter
            throw error
        }
    }

    /// Posts the document, and returns the status and the body of the answer. Blocks the thread.
    ///
    /// - Parameter maximumLength: the most bytes of the body.
    /// - Throws: where there is no answer, or a longer one.
    public func exchange(atMost maximumLength: Int) throws(HTTPError) -> (status: Int, body: [UInt8]) {
        let download = Download(maximumLength: maximumLength)
        let status = try post { call throws(HTTPError) in
            try call.perform(Download.writer, Unmanaged.passUnretained(download).toOpaque()) {
                download.isTooLong ? HTTPError("answers with more than \(maximumLength) bytes") : nil
            }
        }
        return (status, download.bytes)
    }

    private func post<Answer>(_ perform: (CurlCall) throws(HTTPError) -> Answer) throws(HTTPError) -> Answer {
        let call = try CurlCall(url, redirects: 0, seconds: seconds)
        try call.set(CURLOPT_POST, 1)
        try call.set(CURLOPT_POSTFIELDSIZE, body.count)
        for header in headers { call.add(header: "\(header.name): \(header.value)") }
        // The receiver is not asked first whether it wants the body.
        call.add(header: "Expect:")
        let fields = body.withUnsafeBytes { tiffin_curl_copy_body(call.handle, $0.baseAddress) }
        try call.check(fields)
        return try perform(call)
    }
}
