// RESP, the line protocol: bytes to values and values to bytes, for both ends of a connection.
//
// A server reads requests with `RequestParser` and answers into a `ReplyBuffer`; a client writes
// requests with `RequestWriter` and reads answers with `ReplyParser`. Both protocol versions are
// spoken, and inline lines as redis-cli quotes them.
//
// Promises:
// - No input traps: a peer's bytes give values, a request for more bytes, or an error.
// - Whatever a peer announces is compared with a named limit before it is added to or allocated.
// - How a stream is cut into chunks changes nothing: a parser resumes where it stopped, and looks at each byte a
//   bounded number of times.
// - No I/O, no clock, no Foundation.

/// The version of RESP that a connection speaks; a connection starts with version 2.
public enum ProtocolVersion: Int, Sendable {
    case resp2 = 2
    case resp3 = 3
}
