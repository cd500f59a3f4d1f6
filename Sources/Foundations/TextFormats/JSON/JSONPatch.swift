/// JSON Patches (RFC 6902): what leads from one document to another.
///
/// Members of objects are compared by their names, in any order. Elements of arrays are matched by their identity where
/// they have one (``ElementIdentity``), so that one that moved is moved and not written again; of other arrays the
/// common beginning and end are kept. Values are the same when they are written with the same bytes. Equal parts are
/// only scanned for their end, and not read.
public enum JSONPatch {
    /// The patch from one document to another, as JSON text: `[]` where they are the same. A patch that would be
    /// longer than the new document replaces it as a whole.
    ///
    /// - Precondition: both are JSON, without an object that has a key twice. Not all that is not is noticed.
    ///
    /// - Parameter known: an array of each document whose elements are known: a member of it.
    public static func bytes(
        from old: [UInt8], to new: [UInt8], knowing known: (old: KnownArray?, new: KnownArray?) = (nil, nil)
    ) throws(JSONReadingError) -> [UInt8] {
        guard old != new else { return Array("[]".utf8) }
        let patch = try old.withUnsafeBufferPointer { old throws(JSONReadingError) in
            try new.withUnsafeBufferPointer { new throws(JSONReadingError) in
                var writer = PatchWriter(limit: new.count)
                try writer.difference(
                    try JSONSlice(of: UnsafeRawBufferPointer(old)), try JSONSlice(of: UnsafeRawBufferPointer(new)),
                    at: "", known)
                return writer.finish()
            }
        }
        return patch ?? replacement(with: new)
    }

    /// The patch that replaces any document with this one.
    public static func replacement(with new: [UInt8]) -> [UInt8] {
        Array(#"[{"op":"replace","path":"","value":"#.utf8) + new + Array("}]".utf8)
    }

    /// The schema of a patch.
    public static let schema = JSONSchema.list(
        of: .object([
            .member("op", .words(["add", "remove", "replace", "move"])), .member("path", .string, "a JSON Pointer"),
            .optional("from", .string, "of move: a JSON Pointer"), .optional("value", .any, "of add and replace"),
        ]).named("PatchOperation")
    ).saying("JSON Patch, RFC 6902")
}
