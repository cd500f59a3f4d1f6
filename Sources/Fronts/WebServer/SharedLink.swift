internal import TextFormats

/// What an outlet's page says of itself to whoever is sent its address: a title, a description and a picture, which
/// programs read that run no modules.
struct SharedLink {
    private var title: String
    private var description: String?
    private var picture: String?

    /// Of an outlet, or of an item at it.
    ///
    /// - Parameters:
    ///   - home: the outlet's home, as JSON.
    ///   - item: the item that the address names, as `ITEM.GET` answers it.
    init?(home: [UInt8], item: [UInt8]?) {
        guard let (outlet, first) = SharedLink.beginning(of: home), let name = outlet.text("name") else { return nil }
        if let item = item.flatMap({ try? JSONValue($0) }), let itemName = item.text("name") {
            title = "\(itemName) · \(name)"
            description = item.text("description") ?? SharedLink.about(outlet)
            picture = item.picture("imageLarge") ?? item.picture("imageSmall")
        } else {
            title = name
            description = SharedLink.about(outlet)
            picture = first
        }
    }

    /// The elements of a head, with what people wrote as text.
    var html: [UInt8] {
        var html = "<title>\(SharedLink.escaped(title))</title>"
        func add(_ key: String, _ name: String, _ content: String?) {
            guard let content else { return }
            html += "\n<meta \(key)=\"\(name)\" content=\"\(SharedLink.escaped(content))\">"
        }
        add("name", "description", description)
        add("property", "og:title", title)
        add("property", "og:description", description)
        add("property", "og:image", picture)
        return Array(html.utf8)
    }

    /// The outlet of a home, and the picture of its first item. The rest is not read: there can be much of it.
    private static func beginning(of home: [UInt8]) -> (outlet: JSONValue, picture: String?)? {
        home.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            guard (try? reader.enter("outlet")) == true, let raw = try? reader.rawValue(),
                let outlet = try? JSONValue(raw)
            else { return nil }
            return (outlet, try? firstPicture(&reader))
        }
    }

    private static func firstPicture(_ reader: inout JSONReader) throws(JSONReadingError) -> String? {
        guard try reader.goOn(to: "sections") else { return nil }
        try reader.beginArray()
        guard try reader.nextElement(), try reader.enter("items") else { return nil }
        try reader.beginArray()
        guard try reader.nextElement(), try reader.enter("model"), try reader.enter("imageSmall"), !reader.takeNull()
        else { return nil }
        let url = try reader.string()
        return url.hasPrefix("https://") ? url : nil
    }

    /// What an outlet cooks, and where.
    private static func about(_ outlet: JSONValue) -> String? {
        var cuisines: [String] = []
        if case .array(let values)? = outlet["cuisines"] {
            cuisines = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
        let parts = [cuisines.joined(separator: ", ")] + ["address", "area", "city"].map { outlet.text($0) ?? "" }
        let text = parts.filter { !$0.isEmpty }.joined(separator: " · ")
        return text.isEmpty ? nil : text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

extension JSONValue {
    fileprivate func text(_ key: String) -> String? {
        if case .string(let text)? = self[key], !text.isEmpty { text } else { nil }
    }

    /// A picture that others can fetch.
    fileprivate func picture(_ key: String) -> String? {
        text(key).flatMap { $0.hasPrefix("https://") ? $0 : nil }
    }
}

extension JSONReader {
    /// Enters an object, and goes to the value of a key; false where it has none.
    fileprivate mutating func enter(_ key: StaticString) throws(JSONReadingError) -> Bool {
        try beginObject()
        return try goOn(to: key)
    }

    /// Goes to the value of a key of the object that it is in; false where none follows.
    fileprivate mutating func goOn(to key: StaticString) throws(JSONReadingError) -> Bool {
        while let found = try nextKey() {
            if found == key { return true }
            _ = try rawValue()
        }
        return false
    }
}
