internal import Domain
internal import TextFormats

// Values of the domain as payloads hold them.
extension JSONReader {
    mutating func text() throws(JSONReadingError) -> Text { Text(try string()) }

    mutating func texts() throws(JSONReadingError) -> [Text] {
        var texts: [Text] = []
        try beginArray()
        while try nextElement() { texts.append(try text()) }
        return texts
    }

    mutating func optionalText() throws(JSONReadingError) -> Text? { takeNull() ? nil : try text() }

    mutating func optionalInteger() throws(JSONReadingError) -> Int64? { takeNull() ? nil : try integer() }

    /// A moment, in milliseconds since the Unix epoch.
    mutating func timestamp() throws(JSONReadingError) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: try integer())
    }

    /// An identifier. A malformed one is an error if leaving it out would change the meaning.
    mutating func identifier() throws(JSONReadingError) -> Identifier {
        guard let identifier = Identifier(try string()) else { throw failure("an identifier") }
        return identifier
    }

    mutating func identifiers() throws(JSONReadingError) -> [Identifier] {
        var identifiers: [Identifier] = []
        try beginArray()
        while try nextElement() { identifiers.append(try identifier()) }
        return identifiers
    }
}
