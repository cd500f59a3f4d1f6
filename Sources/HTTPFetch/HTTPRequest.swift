// Asks addresses by HTTP or HTTPS, through libcurl: fetches a document, or posts one.
//
// It promises that a call ends after a time that the caller names, whatever the other side does, and never holds more
// bytes than the caller allows. What an error says has no part of the address, which may contain secrets.

internal import CLibCurl

/// A question for a document.
public struct HTTPRequest: Sendable {
    /// The most redirects that are followed.
    public static let maximumRedirects = 5

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
        let call = try CurlCall(url, redirects: HTTPRequest.maximumRedirects, seconds: seconds)
        // Empty: whatever libcurl can decompress.
        try call.set(CURLOPT_ACCEPT_ENCODING, "")
        for (name, value) in [("If-None-Match", validators.etag), ("If-Modified-Since", validators.modified)] {
            guard let value, HTTPValidators.isValid(value) else { continue }
            call.add(header: "\(name): \(value)")
        }
        let download = Download(maximumLength: maximumLength)
        defer { withExtendedLifetime(download) {} }
        let status = try call.perform(Download.writer, Unmanaged.passUnretained(download).toOpaque()) {
            download.isTooLong ? HTTPError("has more than \(maximumLength) bytes") : nil
        }
        switch status {
        case 200:
            let validators = HTTPValidators(
                etag: HTTPRequest.header("ETag", of: call.handle),
                modified: HTTPRequest.header("Last-Modified", of: call.handle))
            return HTTPDocument(download.bytes, validators)
        case 304: return nil
        default: throw HTTPError("is answered with status \(status)")
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
}
