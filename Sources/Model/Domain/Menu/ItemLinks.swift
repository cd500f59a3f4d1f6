/// A picture of an item.
public struct ItemImage: Equatable, Sendable {
    /// The most pictures that an item has beside its small and large one.
    public static let maximumCount = 20

    /// Where it is.
    public var url: Text
    /// What it shows, for users who cannot see it.
    public var alternative: Text?

    /// A picture at an address.
    public init(url: Text, alternative: Text? = nil) {
        self.url = url
        self.alternative = alternative
    }

    /// About its bytes as JSON.
    var bytes: Int { 20 + url.utf8.count + (alternative?.utf8.count ?? 0) }

    /// Rejects a picture with a value out of bounds, naming the field below `path`.
    func validate(at path: String) throws(Rejection) {
        try WebAddress.check(url, "\(path).url")
        try TextRules.check(alternative, "\(path).alt", TextRules.line)
    }
}

/// Something on the web that belongs to an item: where its recipe is from, or a film of how it is made.
public struct ItemLink: Equatable, Sendable {
    /// The most links that an item has.
    public static let maximumCount = 20

    /// What it is to the item, such as `source` or `video`. There can be several of one kind.
    public var rel: Identifier
    /// Where it leads.
    public var url: Text
    /// What it is called.
    public var title: Text?

    /// A link to an address.
    public init(rel: Identifier, url: Text, title: Text? = nil) {
        self.rel = rel
        self.url = url
        self.title = title
    }

    /// About its bytes as JSON.
    var bytes: Int { 30 + rel.rawValue.utf8.count + url.utf8.count + (title?.utf8.count ?? 0) }

    /// Rejects a link with a value out of bounds, naming the field below `path`.
    func validate(at path: String) throws(Rejection) {
        try WebAddress.check(url, "\(path).url")
        try TextRules.check(title, "\(path).title", TextRules.name)
    }
}
