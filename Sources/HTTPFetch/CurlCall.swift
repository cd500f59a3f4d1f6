internal import CLibCurl

/// One use of libcurl: what every question to an address has in common.
final class CurlCall {
    /// The longest that connecting may take, in seconds.
    private static let connectingLimit = 10
    /// Set up once, by whoever comes first.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let seconds: Int

    /// - Parameters:
    ///   - url: an absolute address, by `http` or `https`.
    ///   - redirects: how many redirects are followed.
    ///   - seconds: how long all of it may take.
    init(_ url: String, redirects: Int, seconds: Int) throws(HTTPError) {
        guard CurlCall.isReady, let handle = curl_easy_init() else { throw HTTPError("libcurl cannot be used") }
        self.handle = handle
        self.seconds = seconds
        // A redirect does not lead from a safe address to one that everybody on the way can read.
        let isSafe = url.prefix(6).lowercased() == "https:"
        try set(CURLOPT_URL, url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, isSafe ? "https" : "http,https")
        try set(CURLOPT_USERAGENT, "tiffin")
        try set(CURLOPT_FOLLOWLOCATION, redirects > 0 ? 1 : 0)
        try set(CURLOPT_MAXREDIRS, redirects)
        try set(CURLOPT_TIMEOUT, seconds)
        try set(CURLOPT_CONNECTTIMEOUT, min(seconds, CurlCall.connectingLimit))
        // No signal for time-outs: they belong to the process.
        try set(CURLOPT_NOSIGNAL, 1)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
    }

    func set(_ option: CURLoption, _ text: String) throws(HTTPError) {
        try check(tiffin_curl_set_text(handle, option, text))
    }

    func set(_ option: CURLoption, _ number: Int) throws(HTTPError) {
        try check(tiffin_curl_set_number(handle, option, number))
    }

    /// Adds a header, such as `Name: value`, which must not have the end of a line in it.
    func add(header: String) { headers = curl_slist_append(headers, header) ?? headers }

    /// Asks, and gives what comes to a function of libcurl's kind. Blocks the thread. Returns the status.
    ///
    /// - Parameter refusal: why the function has taken no more, if it has.
    func perform(
        _ write: @escaping curl_write_callback, _ context: UnsafeMutableRawPointer?,
        refusal: () -> HTTPError? = { nil }
    ) throws(HTTPError) -> Int {
        try check(tiffin_curl_set_headers(handle, headers))
        try check(tiffin_curl_set_writer(handle, write, context))
        let code = curl_easy_perform(handle)
        if let refusal = refusal() { throw refusal }
        try check(code)
        return tiffin_curl_status(handle)
    }

    func check(_ code: CURLcode) throws(HTTPError) {
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
