internal import TextFormats

/// Turns the payload of an older schema into that of the next version, until it is the present one.
enum Upcaster {
    typealias Step = @Sendable (inout JSONValue) -> Void

    /// How the payloads of a kind have changed.
    struct Schema {
        var kind: StaticString
        /// The version of events that say nothing new, and then of those that say what came later, in the order of
        /// ``Novelty``: servers of before read on, and refuse what they would work out wrongly. The last is the present
        /// version, and that of everything newer.
        var versions: [Int]
        /// What turns version 1 into 2, and so on, up to the first version that the present reader understands as it is.
        /// Old events are many: where the reader can understand them without a step, they are read as fast as new ones.
        var steps: [Step] = []
        /// What the versions have that others do not, for docs/events.md.
        var history: String?

        /// The present version.
        var version: Int { versions[versions.count - 1] }

        /// The version of an event.
        func version(saying novelty: Novelty) -> Int { versions[min(novelty.rawValue, versions.count - 1)] }

        /// The first version that needs no step.
        var firstReadable: Int { steps.count + 1 }
    }

    /// The kinds whose schema has changed.
    private static let schemas = [
        Schema(
            kind: "outlet.registered", versions: [2, 3, 3, 4], steps: [ratingInHundredths],
            history: "version 1 has `rating`, a decimal number, in place of `ratingHundredths`; " + ofOutlets(3, 4)),
        Schema(kind: "outlet.detailsChanged", versions: [1, 2, 2, 3], history: ofOutlets(2, 3)),
        Schema(kind: "outlet.closed", versions: [1, 1, 1, 2], history: "2 with `opensAt`"),
        Schema(kind: "menu.itemAdded", versions: [1, 2, 3, 4, 4, 5], history: ofItems),
        Schema(kind: "menu.itemChanged", versions: [1, 2, 3, 4, 4, 5], history: ofItems),
        Schema(kind: "menu.sectionAdded", versions: [1, 1, 1, 2], history: "2 with a `daypart`"),
        Schema(kind: "menu.sectionChanged", versions: [1, 1, 1, 2], history: "2 with a `daypart`"),
        Schema(
            kind: "menu.groupPut", versions: [1, 2, 3], history: "2 with `servicePrices`, 3 with the `tax` of an option"
        ),
        Schema(
            kind: "cart.itemAdded", versions: [2],
            history: "version 1 has ids in `options`, and not what the options were called and cost"),
        Schema(kind: "cart.serviceChosen", versions: [1, 1, 1, 2], history: "2 with `for`"),
        Schema(
            kind: "cart.checkedOut", versions: [3, 4, 4, 4, 4, 5],
            history: "version 1 has no charges, as there were none; version 2 has taxes without `rate` and `bases`; "
                + "4 says how the order is had, 5 has discounts"),
        Schema(kind: "order.delayed", versions: [1, 1, 1, 2], history: "2 with a reason"),
        Schema(
            kind: "order.placed", versions: [3, 4, 4, 4, 5, 6],
            history: "versions 1 and 2 as those of `cart.checkedOut`; 4 says how the order is had, 5 has `claims`, "
                + "6 discounts"),
        Schema(kind: "order.rejected", versions: [1, 1, 1, 1, 2], history: "2 with `claims`"),
        Schema(kind: "order.cancelled", versions: [1, 1, 1, 1, 2], history: "2 with `claims`"),
        Schema(kind: "menu.itemSuspended", versions: [1, 1, 1, 1, 2], history: "2 with `by`"),
        Schema(kind: "menu.itemResumed", versions: [1, 1, 1, 1, 2], history: "2 with `by`"),
        Schema(kind: "menu.optionSuspended", versions: [1, 1, 1, 1, 2], history: "2 with `by`"),
        Schema(kind: "menu.optionResumed", versions: [1, 1, 1, 1, 2], history: "2 with `by`"),
        Schema(kind: "order.refunded", versions: [2], history: "version 1 has all taxes together as `tax`"),
        Schema(
            kind: "order.paymentReported", versions: [2], steps: [paymentOfItsReference],
            history: "version 1 has no `of`: a report is of its own `ref`, and was not checked for its parent"),
    ]

    private static func ofOutlets(_ services: Int, _ times: Int) -> String {
        "\(services) with `services` or `rates` of a tax; \(times) with `orderAheadDays`, `slots`, `dayparts`, or "
            + "`specialDays` with periods, which had a `day` before"
    }

    private static let ofItems =
        "2 with `prices`, 3 where it is a `combo`, 4 with a `daypart`, 5 with a `promotion`"

    private static let unchanged = Schema(kind: "", versions: [1])

    /// The schema of a kind.
    static func schema(of kind: EventName) -> Schema { schemas.first { kind == $0.kind } ?? unchanged }

    /// The present version of a kind's schema.
    static func currentVersion(of kind: String) -> Int {
        var kind = kind
        return kind.withUTF8 { schema(of: EventName(UnsafeRawBufferPointer($0))).version }
    }

    /// The version that an event of a kind is written with.
    static func version(of kind: String, saying novelty: Novelty) -> Int {
        var kind = kind
        return kind.withUTF8 { schema(of: EventName(UnsafeRawBufferPointer($0))).version(saying: novelty) }
    }

    /// The payload after some steps.
    static func upcast(
        _ payload: UnsafeRawBufferPointer, by steps: some Sequence<Step>
    ) throws(JSONReadingError) -> [UInt8] {
        var value = try JSONValue(Array(payload))
        for step in steps { step(&value) }
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

    /// Version 1 had no parents: a capture, a void or a refund referred to its own reference. In version 2 a report
    /// without `of` is checked for its parent, and one of version 1 is not.
    private static let paymentOfItsReference: Step = { payload in payload["of"] = payload["ref"] }

    private static func hundredths(_ value: JSONValue) -> JSONValue? {
        guard case .number(let text) = value else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1)
        let fraction = parts.count == 2 ? parts[1].prefix(2) : ""
        let digits = String(parts[0]) + fraction + String(repeating: "0", count: 2 - fraction.count)
        return Int(digits).map { .number(String($0)) }
    }
}
