internal import TextFormats

extension JSONPatch {
    /// A document with more bytes is compared with the one before it on another thread: that takes far longer than a
    /// turn of the loop may.
    static let largeDocument = 500_000

    /// What leads from one document to another; all of it, where they cannot be compared.
    static func whatLeads(
        from old: [UInt8], to document: [UInt8], knowing known: (old: KnownArray?, new: KnownArray?) = (nil, nil)
    ) -> [UInt8] {
        (try? bytes(from: old, to: document, knowing: known)) ?? replacement(with: document)
    }

    /// The same, on another thread.
    @concurrent
    static func madeInBackground(
        from old: [UInt8], to document: [UInt8], knowing known: (old: KnownArray?, new: KnownArray?) = (nil, nil)
    ) async -> [UInt8] {
        whatLeads(from: old, to: document, knowing: known)
    }
}
