/// JSON Patches (RFC 6902): what leads from one document to another.
///
/// Members of objects are compared by their names, in any order. Elements of arrays are matched by their identity
/// where they have one (``ElementIdentity``), so that one that moved is moved and not written again; of other
/// arrays the common beginning and end are kept. Numbers are the same when their texts are, and texts when their
/// bytes are.
public enum JSONPatch {
    /// The patch from one document to another, as JSON text: `[]` where they are the same. A patch that would be
    /// longer than the new document replaces it as a whole.
    public static func bytes(from old: [UInt8], to new: [UInt8]) throws(JSONReadingError) -> [UInt8] {
        guard old != new else { return Array("[]".utf8) }
        let (oldValue, newValue) = (try JSONValue(old), try JSONValue(new))
        var writer = PatchWriter(limit: new.count)
        writer.difference(oldValue, newValue, at: "")
        return writer.finish() ?? replacement(with: new)
    }

    /// The patch that replaces any document with this one.
    public static func replacement(with new: [UInt8]) -> [UInt8] {
        Array(#"[{"op":"replace","path":"","value":"#.utf8) + new + Array("}]".utf8)
    }
}
