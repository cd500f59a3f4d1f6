public import Domain
public import TextFormats

/// The result of forgetting customers.
public struct Forgetting: Sendable {
    /// What was done about one customer.
    public struct Outcome: Sendable {
        /// The customer.
        public let customer: Identifier
        /// How many keys were destroyed, at most one a partition.
        public let destroyedKeys: Int
        /// When the customer was forgotten before, if so.
        public let forgottenBefore: Timestamp?
        /// Whether there was a key, now or before: an unknown customer has left no bytes behind.
        public var wasKnown: Bool { destroyedKeys > 0 || forgottenBefore != nil }

        /// What was done.
        public init(customer: Identifier, destroyedKeys: Int, forgottenBefore: Timestamp?) {
            self.customer = customer
            self.destroyedKeys = destroyedKeys
            self.forgottenBefore = forgottenBefore
        }
    }

    /// Of each customer, in the order of their ids.
    public let outcomes: [Outcome]
    /// Why the keys' old rows may still be in the table's file, if so.
    public var remainder: String?

    /// A result of which nothing remains.
    public init(_ outcomes: [Outcome]) { self.outcomes = outcomes }

    /// As JSON: `{"customers":[{"customer":"c-81","destroyedKeys":1,"forgottenBefore":null}],"remainder":null}`.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("customers")
        writer.beginArray()
        for outcome in outcomes {
            writer.beginObject()
            writer.field("customer", outcome.customer.rawValue)
            writer.field("destroyedKeys", outcome.destroyedKeys)
            writer.field("forgottenBefore", outcome.forgottenBefore?.rfc3339)
            writer.endObject()
        }
        writer.endArray()
        writer.field("remainder", remainder)
        writer.endObject()
        return writer.bytes
    }
}

extension Forgetting.Outcome: CustomStringConvertible {
    /// What was done, for an operator.
    public var description: String {
        if destroyedKeys > 0 {
            let keys = "\(destroyedKeys) key\(destroyedKeys == 1 ? "" : "s")"
            return "customer '\(customer)' is forgotten: \(keys) destroyed. "
                + "What was sealed shows as [erased], and CUSTOMER \(customer) is refused from now on."
        }
        guard let forgottenBefore else {
            return "customer '\(customer)' was not known, and had no key. From now on CUSTOMER \(customer) is refused."
        }
        return "customer '\(customer)' was forgotten already, at \(forgottenBefore.rfc3339)."
    }
}

extension Forgetting {
    /// The schema of ``json``.
    public static let schema = JSONSchema.object([
        .member(
            "customers",
            .list(
                of: .object([
                    .member("customer", .identifier), .member("destroyedKeys", .count),
                    .member("forgottenBefore", .time.orNull, "since when the customer was forgotten already"),
                ]).named("ForgottenCustomer"))),
        .member("remainder", .string.orNull, "what is left to be done, for people"),
    ]).named("Forgetting")
}
