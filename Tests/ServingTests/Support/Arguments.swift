import TextFormats

/// Calls a body with the arguments that these words make.
func withArguments<Result>(_ words: [String], _ body: (Arguments) throws -> Result) rethrows -> Result {
    try Arguments.with(words.map { Array($0.utf8) }) { try body($0) }
}
