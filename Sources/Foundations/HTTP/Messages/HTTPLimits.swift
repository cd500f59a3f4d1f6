// HTTP/1.1 as a server needs it: bytes in, requests out, and answers and event streams as bytes. No I/O, no clock.
//
// It promises that a stream of bytes is read in one way only. Whatever two readers could understand differently (two
// lengths, a length and a transfer coding, a line that ends in LF alone, a blank before a colon, a folded line) is
// refused, and the connection is of no use afterwards: so no request can hide in another. How the bytes were cut on
// their way changes nothing.

/// How large a request may be.
public struct HTTPLimits: Sendable {
    /// The most bytes of a head: the request line, the fields and the empty line behind them.
    public var headBytes = 8 << 10
    /// The most fields of a head.
    public var fieldCount = 64
    /// The most bytes of a body.
    public var bodyBytes = 64 << 10

    /// The defaults.
    public init() {}
}
