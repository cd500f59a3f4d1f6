/// A file that cannot be read, or is not of its format at all: nothing of it can be taken.
struct UnreadableFile: Error, Equatable, CustomStringConvertible {
    var path: String
    /// The line at which the format breaks, from 1, where there is one.
    var line: Int?
    /// The character of that line, from 1, where it is known.
    var column: Int?
    var reason: String

    var description: String { words([path]) }

    /// The same without the path.
    var problem: Problem { Problem(reason: words([])) }

    private func words(_ start: [String]) -> String {
        let place = (start + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
        return place.isEmpty ? reason : "\(place): \(reason)"
    }
}
