internal import HTTP

/// Decides which requests are answered at all: pages of other origins can send some, too.
struct Guard {
    let hosts: Set<String>

    private static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Why a request is refused; nil where it is not.
    ///
    /// - Parameter isStream: whether it asks for a stream, which would take from others on the same machine.
    func problem(with request: HTTPRequest, isStream: Bool) -> Problem? {
        guard isOurs(Guard.name(ofHost: request.host)) else {
            return Problem(.misdirected, "DENIED", "this server is not '\(request.host)'")
        }
        let isUnsafe = !["GET", "HEAD"].contains(request.method)
        guard isUnsafe || isStream, isForeign(request) else { return nil }
        return Problem(.forbidden, "DENIED", "a page of another origin cannot do this")
    }

    /// Whether a name is of this machine: without that, a page could have its own name lead here.
    private func isOurs(_ name: String) -> Bool { Guard.ownHosts.contains(name) || hosts.contains(name) }

    /// Whether a browser names this machine by a name that no other can have, and so takes it for safe.
    static func isLocal(_ host: String) -> Bool { ownHosts.contains(name(ofHost: host)) }

    /// Whether a page of another origin sends the request. Browsers say so in `Sec-Fetch-Site`, or at least in
    /// `Origin`; who says neither is no browser.
    private func isForeign(_ request: HTTPRequest) -> Bool {
        if let site = request["sec-fetch-site"] { return site != "same-origin" && site != "none" }
        guard let origin = request["origin"] else { return false }
        return !["http://\(request.host)", "https://\(request.host)"].contains(origin)
    }

    /// A host without its port.
    static func name(ofHost host: String) -> String {
        guard let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")),
            !host.utf8[colon...].contains(UInt8(ascii: "]"))
        else { return host }
        return String(host[..<colon])
    }
}
