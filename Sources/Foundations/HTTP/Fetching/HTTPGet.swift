// Asks addresses by HTTP or HTTPS, through libcurl: fetches a document, or posts one.
//
// It promises that a call ends after a time that the caller names, whatever the other side does, and never holds more
// bytes than the caller allows. An error contains no part of the address, which may contain secrets.

internal import CLibCurl

/// A question for a document.
public struct HTTPGet: Sendable {
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
        let call = try CurlCall(url, redirects: HTTPGet.maximumRedirects, seconds: seconds)
        // libcurl would take what ends too early.
        call.add(header: "Accept-Encoding: gzip")
        for (name, value) in [("If-None-Match", validators.etag), ("If-Modified-Since", validators.modified)] {
            guard let value, HTTPValidators.isValid(value) else { continue }
            call.add(header: "\(name): \(value)")
        }
        let download = Download(maximumLength: maximumLength)
        defer { withExtendedLifetime(download) {} }
        let status = try call.perform(Download.writer, Unmanaged.passUnretained(download).toOpaque()) {
            download.isTooLong ? tooLong : nil
        }
        switch status {
        case 200:
            let bytes = try unpacked(
                download.bytes, HTTPGet.header("Content-Encoding", of: call.handle) ?? "identity")
            let validators = HTTPValidators(
                etag: HTTPGet.validator("ETag", of: call.handle),
                modified: HTTPGet.validator("Last-Modified", of: call.handle))
            return HTTPDocument(bytes, validators)
        case 304: return nil
        default: throw HTTPError("is answered with status \(status)")
        }
    }

    private var tooLong: HTTPError { HTTPError("has more than \(maximumLength) bytes") }

    /// The document that was packed as `Content-Encoding` says.
    private func unpacked(_ bytes: [UInt8], _ encoding: String) throws(HTTPError) -> [UInt8] {
        switch encoding.lowercased() {
        case "identity": return bytes
        case "gzip", "x-gzip":
            switch Gzip.unpacked(bytes, atMost: maximumLength) {
            case .bytes(let bytes): return bytes
            case .cutShort: throw HTTPError("is cut short: its gzip ends too early")
            case .malformed: throw HTTPError("says that it is gzip, and is not, or is damaged")
            case .tooLong: throw tooLong
            }
        default: throw HTTPError("is packed in another way than gzip")
        }
    }

    /// A header of the last answer that libcurl got, if it has one.
    private static func header(_ name: String, of handle: UnsafeMutableRawPointer) -> String? {
        var header: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK else { return nil }
        return header?.pointee.value.map { String(cString: $0) }
    }

    /// A header that can be sent back, if the last answer has it.
    private static func validator(_ name: String, of handle: UnsafeMutableRawPointer) -> String? {
        header(name, of: handle).flatMap { HTTPValidators.isValid($0) ? $0 : nil }
    }
}
