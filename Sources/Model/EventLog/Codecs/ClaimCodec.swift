public import Domain
public import TextFormats

/// What orders take of what an outlet has counted, as an array of objects.
public enum ClaimCodec {
    /// Writes the claims as a field, unless there are none.
    static func encodeField(_ claims: [Claim], to writer: inout JSONWriter) {
        guard !claims.isEmpty else { return }
        writer.key("claims")
        encode(claims, to: &writer)
    }

    /// Writes the array.
    public static func encode(_ claims: [Claim], to writer: inout JSONWriter) {
        writer.beginArray()
        for claim in claims {
            writer.beginObject()
            encode(claim.key, to: &writer)
            writer.field("count", claim.count)
            if let limit = claim.limit { writer.field("limit", limit) }
            writer.endObject()
        }
        writer.endArray()
    }

    /// Writes what can be claimed as fields.
    public static func encode(_ key: Claim.Key, to writer: inout JSONWriter) {
        writer.field("kind", key.kind.rawValue)
        writer.field("id", key.id.string)
    }

    /// Reads the array.
    public static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> [Claim] {
        var claims: [Claim] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var kind: Claim.Kind?
            var id: Text?
            var count: Int64?
            var limit: Int64?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "kind": kind = Claim.Kind(rawValue: try reader.string())
                case "id": id = try reader.text()
                case "count": count = try reader.integer()
                case "limit": limit = try reader.integer()
                default: _ = try reader.rawValue()
                }
            }
            guard let kind, let id, let count else { throw reader.failure("a claim with all its fields") }
            claims.append(Claim(Claim.Key(kind, id), count, limit: limit))
        }
        return claims
    }
}

extension ClaimCodec {
    /// What can be claimed, as members.
    static let key: [JSONSchema.Member] = [
        .member("kind", .words(of: Claim.Kind.self)), .member("id", .string, "of what is counted"),
    ]

    /// Claims, as the array is written.
    static let schema = JSONSchema.list(
        of: .object(key, [.member("count", .integer), .optional("limit", .integer, "the most of all orders")])
            .named("Claim"))
}
