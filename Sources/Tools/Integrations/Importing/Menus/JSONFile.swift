internal import TextFormats

/// A JSON file of which one list is wanted.
enum JSONFile {
    /// The elements of the array that `member` of the top object is.
    static func elements(
        of member: String, in bytes: [UInt8], path: String
    ) throws(UnreadableFile) -> [JSONValue] {
        let document: JSONValue
        do {
            document = try JSONValue(bytes)
        } catch {
            throw UnreadableFile(
                path: path, line: error.line, column: error.column, reason: "is not JSON: expected \(error.expected)")
        }
        guard case .array(let elements)? = document[member] else {
            throw UnreadableFile(path: path, line: 1, reason: "is not an object with an array '\(member)'")
        }
        return elements
    }
}
