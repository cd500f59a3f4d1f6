package import Domain
package import TextFormats

/// What has changed, as clients get it: `{"outlet":"o","from":1,"to":2,"patch":[…]}`.
package enum ChangeDocument {
    /// How many bytes of a digest tell documents apart: half of the SHA-256 of what they say.
    package static let digestBytes = 16
    /// The document of what does not exist.
    package static let null = Array("null".utf8)

    /// Refuses a `SINCE` that no document has ever had: an unknown digest would be answered as an old one.
    static func check(since: String) throws(Failure) {
        if since != "0" { try Failure.check(digest: since, digits: 2 * digestBytes, "SINCE", or: "0") }
    }

    /// The document.
    ///
    /// - Parameters:
    ///   - member: what the thing that changed is called.
    ///   - patch: a JSON Patch, as text.
    package static func bytes(
        of id: Identifier, named member: StaticString, from: Int64, to: Int64, patch: [UInt8]
    ) -> [UInt8] {
        var writer = begin(id, member, from, to, reserving: patch.count)
        writer.key("patch")
        writer.raw(patch)
        writer.endObject()
        return writer.bytes
    }

    /// What has changed in a document that digests tell apart.
    ///
    /// - Parameter from: the digest of the document that the patch begins with; nil where it replaces any.
    package static func bytes(from: String?, to: String, patch: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 120 + patch.count)
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.key("patch")
        writer.raw(patch)
        writer.endObject()
        return writer.bytes
    }

    /// What is sent instead of a change that cannot be shown.
    package static func bytes(
        of id: Identifier, named member: StaticString, at revision: Int64, failure: Failure
    ) -> [UInt8] {
        var writer = begin(id, member, revision, revision, reserving: failure.message.utf8.count)
        writer.key("error")
        writer.beginObject()
        writer.field("code", failure.code.word)
        writer.field("message", failure.message)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    private static func begin(
        _ id: Identifier, _ member: StaticString, _ from: Int64, _ to: Int64, reserving count: Int
    ) -> JSONWriter {
        var writer = JSONWriter(reservingCapacity: 160 + count)
        writer.beginObject()
        writer.field(member, id.rawValue)
        writer.field("from", from)
        writer.field("to", to)
        return writer
    }

    /// A patch with one operation more behind it: the count of a cart, which is in no patch between revisions.
    package static func patch(_ patch: [UInt8], settingCartCount count: Int) -> [UInt8] {
        let isEmpty = patch == Array("[]".utf8)
        return patch.dropLast()
            + Array(#"\#(isEmpty ? "" : ","){"op":"add","path":"/cartCount","value":\#(count)}]"#.utf8)
    }
}

// MARK: Schemas

extension ChangeDocument {
    /// What leads from one document to the next.
    ///
    /// - Parameter member: what the thing that changed is called.
    private static func schema(of member: String) -> JSONSchema {
        .object([
            .member(member, .identifier), .member("from", .count, "the revision that it begins with"),
            .member("to", .count, "the revision that it leads to"), .member("patch", JSONPatch.schema),
        ])
    }

    /// What has changed in an outlet's home.
    package static let ofHome = schema(of: "outlet").named("HomePatch")
    /// What has changed in a cart.
    package static let ofCart = schema(of: "cart").named("CartPatch")
    /// What has changed in an order.
    package static let ofOrder = schema(of: "order").named("OrderPatch")
    /// What has changed in a document that digests tell apart.
    package static let ofDigests = JSONSchema.object([
        .member("from", .string.orNull, "the digest that it begins with; null where it replaces any document"),
        .member("to", .string, "the digest that it leads to"), .member("patch", JSONPatch.schema),
    ]).named("DocumentPatch")
}

extension JSONSchema {
    /// This document, or with `SINCE` what has changed in it; null where nothing has, or there is none.
    package func or(_ change: JSONSchema) -> JSONSchema { .oneOf([self, change]).orNull }
}
