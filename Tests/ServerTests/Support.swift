import LineProtocol

@testable import Server

/// Gives a body the words of a call as the server would have them from a client.
func withCall<Result>(_ words: [String], _ body: (Arguments) throws -> Result) throws -> Result {
    var writer = RequestWriter()
    writer.write(words)
    var parser = RequestParser()
    defer { withExtendedLifetime(writer) {} }
    guard case .request(let arguments, _) = parser.next(writer.bytes, within: RequestLimits()) else {
        preconditionFailure("a request that is none: \(words)")
    }
    let result = try body(arguments)
    // The arguments are a view of the parser's memory.
    withExtendedLifetime(parser) {}
    return result
}

/// What the body fails with, as a client would read it, or nil where it does not fail.
func failure(_ body: () throws -> Void) rethrows -> String? {
    do {
        try body()
        return nil
    } catch let failure as Failure {
        return "\(failure.code) \(failure.message)"
    }
}

extension String {
    /// The words between blanks.
    var words: [String] { split(separator: " ").map(String.init) }
}
