internal import CLibCurl

/// One use of libcurl: what every question to an address has in common.
final class CurlCall {
    /// The longest that connecting may take, in seconds.
    private static let connectingLimit = 10
    /// The most bytes of headers, of all answers together. libcurl has a limit of 100 kB for a single line.
    private static let headerLimit = 64 << 10
    /// How newer versions of libcurl call a header beyond their limit; older ones say that they have no memory.
    private static let tooLargeCode: UInt32 = 100
    /// Set up once, by the first call.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let seconds: Int
    /// A server that was asked at a safe address must not redirect to one that is not safe.
    private let isSafe: Bool
    /// Bytes of headers that came.
    private var headerLength = 0

    /// - Parameters:
    ///   - url: an absolute address, by `http` or `https`.
    ///   - redirects: how many redirects are followed.
    ///   - seconds: how long all of it may take.
    init(_ url: String, redirects: Int, seconds: Int) throws(HTTPError) {
        guard CurlCall.isReady, let handle = curl_easy_init() else { throw HTTPError("libcurl cannot be used") }
        self.handle = handle
        self.seconds = seconds
        // A redirect does not lead from a safe address to an unencrypted one.
        isSafe = CurlCall.scheme(of: url) == "https"
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
        try check(
            tiffin_curl_set_header_reader(handle, CurlCall.headerReader, Unmanaged.passUnretained(self).toOpaque()))
        let code = curl_easy_perform(handle)
        if let refusal = refusal() { throw refusal }
        guard headerLength <= CurlCall.headerLimit, code != CURLE_OUT_OF_MEMORY,
            code.rawValue != CurlCall.tooLargeCode
        else { throw HTTPError("is answered with more than \(CurlCall.headerLimit >> 10) KiB of headers") }
        do throws(HTTPError) {
            try check(code)
        } catch {
            throw HTTPError(error.description, isSent: tiffin_curl_was_sent(handle))
        }
        return tiffin_curl_status(handle)
    }

    /// What libcurl calls with each line of the headers. With another result than its length it gives up.
    private static let headerReader: curl_write_callback = { _, size, count, context in
        guard let context else { return 0 }
        let call = Unmanaged<CurlCall>.fromOpaque(context).takeUnretainedValue()
        call.headerLength += size * count
        return call.headerLength <= headerLimit ? size * count : 0
    }

    private static func scheme(of address: String) -> String { address.prefix { $0 != ":" }.lowercased() }

    /// Whether what was asked last is an address that may be asked. libcurl has the same code where it is not, and
    /// where the answer is of another protocol.
    private var isAskedRightly: Bool {
        guard let address = tiffin_curl_address(handle) else { return false }
        return (isSafe ? ["https"] : ["http", "https"]).contains(CurlCall.scheme(of: String(cString: address)))
    }

    func check(_ code: CURLcode) throws(HTTPError) {
        switch code {
        case CURLE_OK: break
        case CURLE_OPERATION_TIMEDOUT: throw HTTPError("is not answered in full within \(seconds) s")
        case CURLE_TOO_MANY_REDIRECTS:
            throw HTTPError("redirects more than \(HTTPGet.maximumRedirects) times")
        case CURLE_UNSUPPORTED_PROTOCOL:
            throw HTTPError(
                isAskedRightly ? "does not answer by HTTP" : "leads to an address that must not be asked")
        default: throw HTTPError("cannot be fetched: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}
