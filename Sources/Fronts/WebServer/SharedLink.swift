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
        guard let outlet = SharedLink.outlet(in: home), let name = outlet.text("name") else { return nil }
        if let item = item.flatMap({ try? JSONValue($0) }), let itemName = item.text("name") {
            title = "\(itemName) · \(name)"
            description = item.text("description") ?? SharedLink.about(outlet)
            picture = item.picture("imageLarge") ?? item.picture("imageSmall")
        } else {
            title = name
            description = SharedLink.about(outlet)
            picture = SharedLink.firstPicture(in: home)
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

    /// The first member of a home.
    private static func outlet(in home: [UInt8]) -> JSONValue? {
        home.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            do {
                try reader.beginObject()
                guard let key = try reader.nextKey(), key == "outlet" else { return nil }
                return try JSONValue(try reader.rawValue())
            } catch {
                return nil
            }
        }
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

    /// The picture of one of the first items. In a text the quotes would be escaped.
    private static func firstPicture(in home: [UInt8]) -> String? {
        let key = Array("\"imageSmall\":\"".utf8)
        guard let place = home.prefix(8_192).firstRange(of: Array(key + Array("https://".utf8))) else { return nil }
        let url = home[(place.lowerBound + key.count)...].prefix { $0 != UInt8(ascii: "\"") }
        return url.contains(UInt8(ascii: "\\")) ? nil : String(decoding: url, as: UTF8.self)
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
