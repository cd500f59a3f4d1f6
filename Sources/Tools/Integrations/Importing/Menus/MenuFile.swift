internal import Domain
internal import TextFormats

/// A menu document of docs/menus.md. What is in it is the server's to judge; here it is only made sure
/// that it is JSON, has sections, and fits into a request.
struct MenuFile: Equatable {
    let document: String
    let sectionCount: Int
    /// How many items the sections list; a section whose items are no list counts as one, for the server to refuse.
    let itemCount: Int

    init(json bytes: [UInt8], path: String) throws(UnreadableFile) {
        let sections = try JSONFile.elements(of: "sections", in: bytes, path: path)
        sectionCount = sections.count
        itemCount = sections.reduce(0) { count, section in
            switch section["items"] {
            case .array(let items)?: count + items.count
            case nil, .null?: if case .object = section { count } else { count + 1 }
            case .bool?, .number?, .string?, .object?: count + 1
            }
        }
        let most = Menu.maximumDocumentBytes
        guard bytes.count <= most else {
            throw UnreadableFile(
                path: path, reason: "has \(bytes.count.counted("byte")), a menu has at most \(most.grouped)")
        }
        document = String(decoding: bytes, as: UTF8.self)
    }
}
