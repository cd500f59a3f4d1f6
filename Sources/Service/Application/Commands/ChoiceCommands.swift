internal import SeededRandom
internal import TextFormats
internal import Users

/// What decides for those who cannot.
///
/// No command here has options, so that no word of a user's can be taken for one.
enum ChoiceCommands {
    static let all: [Command] = [
        Command("CHOOSE", .browsing, role: .anybody, answers: .string, "Returns one of the words, each equally likely.")
        { parameters in
            let words = parameters.repeated("word", accepting: "any bytes")
            return { _, call throws(Failure) in
                var random = SystemRandomNumberGenerator()
                return try choice(of: call[words], &random)
            }
        },
        Command(
            "CHOOSE.SEED", .browsing, role: .anybody, answers: .string,
            "Returns one of the words: the same number chooses the same of as many words."
        ) { parameters in
            let seed = parameters.required("n", .integer)
            let words = parameters.repeated("word", accepting: "any bytes")
            return { _, call throws(Failure) in
                var random = SeededGenerator(seed: UInt64(bitPattern: try call[seed]))
                return try choice(of: call[words], &random)
            }
        },
    ]

    private static func choice(
        of words: Arguments.SubSequence, _ random: inout some RandomNumberGenerator
    ) throws(Failure) -> Response {
        guard let word = words.randomElement(using: &random)?.string else { throw .invalid("word", "must be UTF-8") }
        return .answer(.text(word))
    }
}
