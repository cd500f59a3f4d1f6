public import Domain
public import TextFormats

/// What is known of the source that a menu is imported from.
public enum FeedDocument {
    /// Everything, as `MENU.FEED.GET` answers it: where the source is, only merchants are to know.
    public static func bytes(of check: FeedCheck) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writeShown(check, to: &writer)
        writer.field("source", check.source?.string)
        writer.field("etag", check.validators?.etag?.string)
        writer.field("modified", check.validators?.modified?.string)
        writer.field("key", check.validators?.key.string)
        writer.endObject()
        return writer.bytes
    }

    /// Writes the field `feed` of a document that customers see, if there is anything to say.
    static func writeField(_ check: FeedCheck?, to writer: inout JSONWriter) {
        guard let check else { return }
        writer.key("feed")
        writer.beginObject()
        writeShown(check, to: &writer)
        writer.endObject()
    }

    private static func writeShown(_ check: FeedCheck, to writer: inout JSONWriter) {
        writer.field("state", check.state.rawValue)
        writer.field("checkedAt", check.at.rfc3339)
        writer.field("refreshedAt", check.refreshedAt?.rfc3339)
        writer.field("problems", check.problems.lazy.map(\.string))
    }
}

extension FeedDocument {
    private static let shown: [JSONSchema.Member] = [
        .member("state", .words(of: FeedCheck.State.self)), .member("checkedAt", .time),
        .member("refreshedAt", .time.orNull), .member("problems", .list(of: .string)),
    ]

    /// What customers see of it.
    static let shownSchema = JSONSchema.object(shown).named("FeedState")

    /// The schema of the document.
    public static let schema = JSONSchema.object(
        shown,
        [
            .member("source", .string.orNull), .member("etag", .string.orNull), .member("modified", .string.orNull),
            .member("key", .string.orNull),
        ]
    ).named("Feed")
}
