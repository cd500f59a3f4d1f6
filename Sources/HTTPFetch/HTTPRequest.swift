// Fetches one document by HTTP or HTTPS, through libcurl.
//
// It promises that a call ends after a time that the caller names, whatever the other side does, and never holds more
// bytes than the caller allows. What an error says has no part of the address, which may contain secrets.

internal import CLibCurl

/// A question for a document.
public struct HTTPRequest: Sendable {
    /// The most redirects that are followed.
    public static let maximumRedirects = 5
    /// The longest that connecting may take, in seconds.
    private static let connectingLimit = 10

    private let url: String
    private let validators: HTTPValidators
    private let seconds: Int
    private let maximumLength: Int

    /// - Parameters:
    ///   - url: an absolute address, by `http` or `https`.
    ///   - validators: those of an earlier answer; the document is then only sent if it has changed since.
    ///   - seconds: how long all of it may take.
    ///   - maximumLength: the most bytes that the document may have, once it is decompressed.
    public init(
        _ url: String, unless validators: HTTPValidators = HTTPValidators(), seconds: Int, maximumLength: Int
    ) {
        self.url = url
        self.validators = validators
        self.seconds = seconds
        self.maximumLength = maximumLength
    }

    /// Fetches the document; nil if the answer says that it has not changed. Blocks the thread.
    public func fetch() throws(HTTPError) -> HTTPDocument? {
        guard HTTPRequest.isReady, let handle = curl_easy_init() else { throw HTTPError("libcurl cannot be used") }
        defer { curl_easy_cleanup(handle) }
        try prepare(handle)
        let headers = conditions
        defer { curl_slist_free_all(headers) }
        try check(tiffin_curl_set_headers(handle, headers))
        let download = Download(maximumLength: maximumLength)
        try check(tiffin_curl_set_writer(handle, Download.writer, Unmanaged.passUnretained(download).toOpaque()))
        let code = withExtendedLifetime(download) { curl_easy_perform(handle) }
        if download.isTooLong { throw HTTPError("has more than \(maximumLength) bytes") }
        try check(code)
        return try answer(handle, download.bytes)
    }

    /// Set up once, by whoever comes first.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private func prepare(_ handle: UnsafeMutableRawPointer) throws(HTTPError) {
        // A redirect does not lead from a safe address to one that everybody on the way can read.
        let isSafe = url.prefix(6).lowercased() == "https:"
        let texts: [(CURLoption, String)] = [
            (CURLOPT_URL, url), (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_REDIR_PROTOCOLS_STR, isSafe ? "https" : "http,https"), (CURLOPT_USERAGENT, "tiffin"),
            // Empty: whatever libcurl can decompress.
            (CURLOPT_ACCEPT_ENCODING, ""),
        ]
        for (option, text) in texts { try check(tiffin_curl_set_text(handle, option, text)) }
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, HTTPRequest.maximumRedirects),
            (CURLOPT_TIMEOUT, seconds), (CURLOPT_CONNECTTIMEOUT, min(seconds, HTTPRequest.connectingLimit)),
            // No signal for time-outs: they belong to the process.
            (CURLOPT_NOSIGNAL, 1),
        ]
        for (option, number) in numbers { try check(tiffin_curl_set_number(handle, option, number)) }
    }

    /// The headers that ask for the document only if it has changed; nil without validators.
    private var conditions: UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for (name, value) in [("If-None-Match", validators.etag), ("If-Modified-Since", validators.modified)] {
            guard let value, HTTPValidators.isValid(value) else { continue }
            list = curl_slist_append(list, "\(name): \(value)") ?? list
        }
        return list
    }

    private func answer(_ handle: UnsafeMutableRawPointer, _ bytes: [UInt8]) throws(HTTPError) -> HTTPDocument? {
        switch tiffin_curl_status(handle) {
        case 200:
            let etag = HTTPRequest.header("ETag", of: handle)
            let modified = HTTPRequest.header("Last-Modified", of: handle)
            return HTTPDocument(bytes, HTTPValidators(etag: etag, modified: modified))
        case 304: return nil
        case let status: throw HTTPError("is answered with status \(status)")
        }
    }

    /// A header of the last answer that libcurl got, if it has one that can be sent back.
    private static func header(_ name: String, of handle: UnsafeMutableRawPointer) -> String? {
        var header: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
            let value = header?.pointee.value
        else { return nil }
        let text = String(cString: value)
        return HTTPValidators.isValid(text) ? text : nil
    }

    private func check(_ code: CURLcode) throws(HTTPError) {
        switch code {
        case CURLE_OK: break
        case CURLE_OPERATION_TIMEDOUT: throw HTTPError("is not answered in full within \(seconds) s")
        case CURLE_TOO_MANY_REDIRECTS:
            throw HTTPError("redirects more than \(HTTPRequest.maximumRedirects) times")
        case CURLE_UNSUPPORTED_PROTOCOL: throw HTTPError("leads to an address that must not be asked")
        default: throw HTTPError("cannot be fetched: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}
