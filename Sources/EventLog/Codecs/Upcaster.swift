internal import JSONText

/// Turns the payload of an older schema into that of the next version, until it is the present one.
enum Upcaster {
    private typealias Step = @Sendable (inout JSONValue) -> Void

    /// For each kind whose schema has changed, the steps from version 1 to 2, from 2 to 3, and so on.
    private static let steps: [String: [Step]] = [
        "outlet.registered": [ratingInHundredths]
    ]

    /// The present version of a kind's schema.
    static func currentVersion(of kind: String) -> Int { 1 + (steps[kind]?.count ?? 0) }

    /// The payload in the present schema: as it is where it is in that already.
    ///
    /// - Precondition: the version is one from 1 to the present one.
    static func upcast(_ payload: [UInt8], of kind: EventKind) throws(JSONReadingError) -> [UInt8] {
        guard let steps = steps[kind.name], kind.schemaVersion <= steps.count else { return payload }
        var value = try JSONValue(payload)
        for step in steps[(kind.schemaVersion - 1)...] { step(&value) }
        var writer = JSONWriter(reservingCapacity: payload.count)
        value.write(to: &writer)
        return writer.bytes
    }

    /// Version 1 kept an outlet's rating as a decimal number (`"rating":4.4`). Version 2 keeps hundredths
    /// (`"ratingHundredths":440`), so that no fold goes through floating point.
    private static let ratingInHundredths: Step = { payload in
        let rating = payload["rating"]
        payload["rating"] = nil
        guard let rating, rating != .null else { return }
        // What is no such number goes on as it is, to be refused when it is read.
        payload["ratingHundredths"] = hundredths(rating) ?? rating
    }

    private static func hundredths(_ value: JSONValue) -> JSONValue? {
        guard case .number(let text) = value else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1)
        let fraction = parts.count == 2 ? parts[1].prefix(2) : ""
        let digits = String(parts[0]) + fraction + String(repeating: "0", count: 2 - fraction.count)
        return Int(digits).map { .number(String($0)) }
    }
}
