import TextFormats

@testable import Application

/// Calls a body with the arguments that these words make.
func withArguments<Result>(_ words: [String], _ body: (Arguments) throws -> Result) rethrows -> Result {
    try Arguments.with(words.map { Array($0.utf8) }) { try body($0) }
}

/// The error that the body throws, as a client would read it; nil if it does not throw.
func failure(_ body: () throws -> Void) rethrows -> String? {
    do {
        try body()
        return nil
    } catch let failure as Failure {
        return "\(failure.code.word) \(failure.message)"
    }
}

extension String {
    /// The words between blanks.
    var words: [String] { split(separator: " ").map(String.init) }
}
