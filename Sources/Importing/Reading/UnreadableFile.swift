/// A file that cannot be read, or is not of its format at all: nothing of it can be taken.
struct UnreadableFile: Error, Equatable, CustomStringConvertible {
    var path: String
    /// The line at which the format breaks, from 1, where there is one.
    var line: Int?
    var reason: String

    var description: String {
        line.map { "\(path):\($0): \(reason)" } ?? "\(path): \(reason)"
    }
}
