internal import CLibUV

/// What the operating system refused, and what was tried.
public struct LoopError: Error, Equatable, CustomStringConvertible {
    /// libuv's code: on Unix the negated `errno`.
    public let code: Int32
    /// What was tried, after "cannot": `listen on 127.0.0.1:7379`.
    public let action: String

    private let reason: String?

    /// - Parameter reason: what happened, where that says more than the code.
    init(_ code: Int32, _ action: String, _ reason: String? = nil) {
        self.code = code
        self.action = action
        self.reason = reason
    }

    /// The code's stable name: `EADDRINUSE`.
    public var name: String { String(cString: uv_err_name(code)) }

    /// What happened, in words: `address already in use`.
    public var message: String { reason ?? String(cString: uv_strerror(code)) }

    /// Everything on one line.
    public var description: String { "cannot \(action): \(message) (\(name))" }

    static func check(_ code: Int32, _ action: @autoclosure () -> String) throws(LoopError) {
        if code < 0 { throw LoopError(code, action()) }
    }
}
