internal import Domain
internal import TextFormats

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
            throw Failure(Rejection(.invalid, error.description))
        }
    }
}

/// Values of a document that are refused: the first of each object, and those of all elements of an array.
struct InputError: Error, CustomStringConvertible {
    /// A value, and what is wrong with it.
    private struct Refusal {
        /// Where it stands, as a person would write it: `sections[0].items[2].price`. Empty for the document itself.
        var path: String
        /// What is wrong with it, or what it must be.
        var reason: String
    }

    private var refusals: [Refusal]
    /// How many there are besides those that are named.
    private var more = 0

    init(_ path: String, _ reason: String) { refusals = [Refusal(path: path, reason: reason)] }

    var description: String {
        var problems = ProblemList()
        for refusal in refusals { problems.add("\(refusal.path.isEmpty ? "json" : refusal.path): \(refusal.reason)") }
        for _ in 0..<more { problems.add("") }
        return problems.text
    }

    /// The same error, seen from the object or array that holds the value as `outer`.
    func within(_ outer: String) -> InputError {
        var error = self
        for index in error.refusals.indices {
            let path = error.refusals[index].path
            let isDirect = path.isEmpty || path.utf8.first == UInt8(ascii: "[")
            error.refusals[index].path = isDirect ? outer + path : "\(outer).\(path)"
        }
        return error
    }

    /// Reads each element, and refuses all of those that are refused.
    static func all<Element, Value>(
        _ elements: [Element], within outer: String = "", _ read: (Element) throws(InputError) -> Value
    ) throws(InputError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        var found: InputError?
        for (index, element) in elements.enumerated() {
            do throws(InputError) {
                values.append(try read(element))
            } catch {
                found = (found ?? InputError()).adding(error.within("\(outer)[\(index)]"))
            }
        }
        if let found { throw found }
        return values
    }

    private init() { refusals = [] }

    private func adding(_ other: InputError) -> InputError {
        var error = self
        let room = ProblemList.maximumCount - refusals.count
        error.refusals += other.refusals.prefix(room)
        error.more += other.more + max(0, other.refusals.count - room)
        return error
    }
}
