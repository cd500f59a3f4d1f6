internal import JSONText

/// Turns the payload of an older schema into that of the next version, until it is the present one.
enum Upcaster {
    /// What turns one version into the next; nil where the present reader understands both, so that nothing has to be
    /// turned. Old events are many, and those are read as fast as new ones.
    typealias Step = (@Sendable (inout JSONValue) -> Void)?

    /// For each kind whose schema has changed, the steps from version 1 to 2, from 2 to 3, and so on.
    private static let steps: [(kind: StaticString, steps: [Step])] = [
        ("outlet.registered", [ratingInHundredths]),
        // Version 1 has ids in `options`, and not what the options were called and cost.
        ("cart.itemAdded", [nil]), ("cart.checkedOut", [nil]),
        // Version 1 has no charges: there were none.
        ("order.placed", [nil]),
    ]

    /// The steps from the first version of a kind's schema to the present one.
    static func steps(of kind: EventName) -> [Step] { steps.first { kind == $0.kind }?.steps ?? [] }

    /// The present version of a kind's schema.
    static func currentVersion(of kind: String) -> Int {
        var kind = kind
        return kind.withUTF8 { 1 + steps(of: EventName(UnsafeRawBufferPointer($0))).count }
    }

    /// The payload after some steps.
    static func upcast(
        _ payload: UnsafeRawBufferPointer, by steps: some Sequence<Step>
    ) throws(JSONReadingError) -> [UInt8] {
        var value = try JSONValue(Array(payload))
        for step in steps { step?(&value) }
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
        // A value that is not such a number is passed on unchanged, to be refused when it is read.
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
