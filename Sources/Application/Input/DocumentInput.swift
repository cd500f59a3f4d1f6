internal import CallArguments
internal import JSONText

/// Reads the JSON documents that clients send.
///
/// Our own reader alone sees the bytes: it is strict, and bounds the nesting. Everything that it accepts is then
/// either read or refused by the field, and no value of it can trap.
enum DocumentInput {
    /// The document in the argument, or an `INVALID` that names the field.
    static func decode<Document: InputValue>(
        _ type: Document.Type, from argument: Argument
    ) throws(Failure) -> Document {
        try decode(type, from: argument.bytes)
    }

    /// The document that the bytes hold, or an `INVALID` that names the field.
    static func decode<Document: InputValue>(
        _ type: Document.Type, from bytes: UnsafeRawBufferPointer
    ) throws(Failure) -> Document {
        let json: JSONValue
        do throws(JSONReadingError) {
            json = try JSONValue(bytes)
        } catch {
            throw .invalid("json", "must be one JSON document in UTF-8: \(error)")
        }
        do throws(InputError) {
            return try Document.read(json)
        } catch {
            throw .invalid(error.path.isEmpty ? "json" : error.path, error.reason)
        }
    }
}

/// A value of a document that is refused.
struct InputError: Error {
    /// Where it stands, as a person would write it: `sections[0].items[2].price`. Empty for the document itself.
    private(set) var path: String
    /// What is wrong with it, or what it must be.
    let reason: String

    init(_ path: String, _ reason: String) {
        self.path = path
        self.reason = reason
    }

    /// The same error, seen from the object or array that holds the value as `outer`.
    func within(_ outer: String) -> InputError {
        let isDirect = path.isEmpty || path.utf8.first == UInt8(ascii: "[")
        return InputError(isDirect ? outer + path : "\(outer).\(path)", reason)
    }
}
