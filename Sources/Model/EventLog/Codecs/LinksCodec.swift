public import Domain
public import TextFormats

extension JSONWriter {
    /// Writes a key and images as an array. Documents say null where there is no text, and events say nothing.
    public mutating func field(_ key: StaticString, _ images: [ItemImage], leavingOutNull: Bool = false) {
        self.key(key)
        beginArray()
        for image in images {
            beginObject()
            field("url", image.url.string)
            if !leavingOutNull || image.alternative != nil { field("alt", image.alternative?.string) }
            endObject()
        }
        endArray()
    }

    /// Writes a key and links as an array. Documents say null where there is no text, and events say nothing.
    public mutating func field(_ key: StaticString, _ links: [ItemLink], leavingOutNull: Bool = false) {
        self.key(key)
        beginArray()
        for link in links {
            beginObject()
            field("rel", link.rel.rawValue)
            field("url", link.url.string)
            if !leavingOutNull || link.title != nil { field("title", link.title?.string) }
            endObject()
        }
        endArray()
    }
}

extension JSONReader {
    mutating func images() throws(JSONReadingError) -> [ItemImage] {
        var images: [ItemImage] = []
        try beginArray()
        while try nextElement() {
            var (url, alternative): (Text?, Text?) = (nil, nil)
            try beginObject()
            while let key = try nextKey() {
                switch key {
                case "url": url = try text()
                case "alt": alternative = try text()
                default: _ = try rawValue()
                }
            }
            guard let url else { throw failure("the address of an image") }
            images.append(ItemImage(url: url, alternative: alternative))
        }
        return images
    }

    mutating func links() throws(JSONReadingError) -> [ItemLink] {
        var links: [ItemLink] = []
        try beginArray()
        while try nextElement() {
            var (rel, url, title): (Identifier?, Text?, Text?) = (nil, nil, nil)
            try beginObject()
            while let key = try nextKey() {
                switch key {
                case "rel": rel = try identifier()
                case "url": url = try text()
                case "title": title = try text()
                default: _ = try rawValue()
                }
            }
            guard let rel, let url else { throw failure("the relation and the address of a link") }
            links.append(ItemLink(rel: rel, url: url, title: title))
        }
        return links
    }
}

extension ItemImage {
    /// An image in a document.
    public static let schema = JSONSchema.object([.member("url", .string), .member("alt", .string.orNull)]).named(
        "Image")
}

extension ItemLink {
    /// A link in a document.
    public static let schema = JSONSchema.object([
        .member("rel", .string, "what it is to the item"), .member("url", .string), .member("title", .string.orNull),
    ]).named("Link")
}
