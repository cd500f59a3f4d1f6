/// What tells one version of a document from another. All are weak: a proxy may compress a document again.
public struct EntityTag: Equatable, Sendable {
    /// Its text as fields have it: `W/"b8d04f5a"`.
    public let text: String

    /// A tag.
    ///
    /// - Parameter opaque: letters, digits and the like, without `"`.
    public init(_ opaque: String) { text = "W/\"\(opaque)\"" }

    /// Whether an `If-None-Match` names it, so that the client has the document already. Weak and strong tags are the
    /// same.
    public func isNamed(in condition: String) -> Bool {
        let mine = text.utf8.dropFirst(2)
        return condition.utf8.split(separator: UInt8(ascii: ",")).contains { listed in
            var listed = listed
            while let first = listed.first, first == .space || first == 0x09 { listed = listed.dropFirst() }
            while let last = listed.last, last == .space || last == 0x09 { listed = listed.dropLast() }
            if listed.elementsEqual("*".utf8) { return true }
            if listed.starts(with: "W/".utf8) { listed = listed.dropFirst(2) }
            return listed.elementsEqual(mine)
        }
    }
}
