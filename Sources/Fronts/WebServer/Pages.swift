internal import Foundation
internal import HTTP
internal import TextFormats

/// The pages and their files.
struct Pages {
    /// A page: what asks for it, what it is, and which document stands in it.
    struct Page: Sendable {
        var site: Site
        /// The path, with `{…}` for a part that can be any id.
        var path: String
        /// The file among the assets.
        var shell: String
        /// The modules that run in it. What they import is named in the page, so that a browser asks for all at once.
        var modules: [String]
        /// The path of the document that stands in it, with the same `{…}`; nil where there is none.
        var document: String?
    }

    static let all = [
        Page(
            site: .store, path: "/discover", shell: "store/shell.html", modules: ["store/main.js", "store/feed.js"]),
        Page(
            site: .store, path: "/o/{outlet}", shell: "store/shell.html", modules: ["store/main.js", "store/home.js"],
            document: "/v1/outlets/{outlet}/home"),
        Page(
            site: .store, path: "/order/{order}", shell: "store/shell.html",
            modules: ["store/main.js", "store/order.js"]),
        Page(
            site: .store, path: "/orders", shell: "store/shell.html", modules: ["store/main.js", "store/orders.js"]),
        Page(
            site: .console, path: "/kitchen/{outlet}", shell: "kitchen/shell.html", modules: ["kitchen/board.js"]),
        // The same as in the store, for those who change it.
        Page(
            site: .console, path: "/preview/{outlet}", shell: "store/shell.html",
            modules: ["store/main.js", "store/home.js"]),
        Page(site: .console, path: "/merchant", shell: "merchant/shell.html", modules: ["merchant/main.js"]),
        Page(site: .console, path: "/login", shell: "console/login.html", modules: ["console/login.js"]),
        Page(site: .console, path: "/", shell: "console/shell.html", modules: ["console/main.js"]),
    ]

    static let table = PathTable(all.map { ($0.path, $0) })

    private static let markOfModules = "<!--modules-->"
    private static let markOfDocument = "<!--document-->"
    /// The title of a page that says nothing of what stands in it.
    private static let title = "<title>Tiffin</title>"

    /// A page in parts: before its title, from there to the mark for its document, and behind that.
    private struct Shell {
        var start: [UInt8]
        var middle: [UInt8]
        var end: [UInt8]
    }

    let assets: WebAssets
    /// Each page by its path.
    private let shells: [String: Shell]

    init(_ assets: WebAssets) {
        self.assets = assets
        shells = Dictionary(
            Pages.all.map { page in
                let links = assets.imports(of: page.modules).map {
                    "<link rel=\"modulepreload\" href=\"/a/\(assets.version)/\($0)\">"
                }
                let text = String(decoding: assets[page.shell]?.bytes ?? [], as: UTF8.self)
                    .replacing(Pages.markOfModules, with: links.joined(separator: "\n"))
                let (head, end) = Pages.parts(of: text, at: Pages.markOfDocument)
                let (start, middle) = Pages.parts(of: head, at: Pages.title)
                return (page.path, Shell(start: Array(start.utf8), middle: Array(middle.utf8), end: Array(end.utf8)))
            }
        ) { first, _ in first }
    }

    /// What stands before and behind the first of some marks; nothing behind it where there is none.
    private static func parts(of text: String, at mark: String) -> (String, String) {
        guard let place = text.firstRange(of: mark) else { return (text, "") }
        return (String(text[..<place.lowerBound]), String(text[place.upperBound...]))
    }

    /// A page with a document in it.
    ///
    /// - Parameters:
    ///   - document: as JSON, with the path where it comes from.
    ///   - link: what the page says of itself.
    func html(_ page: Page, _ document: (path: String, json: [UInt8])?, _ link: SharedLink? = nil) -> [UInt8] {
        guard let shell = shells[page.path] else { return [] }
        var html = shell.start
        html.reserveCapacity(
            shell.start.count + shell.middle.count + shell.end.count + (document?.json.count ?? 0) + 1_000)
        if !shell.middle.isEmpty { html += link?.html ?? Array(Pages.title.utf8) }
        html += shell.middle
        guard let document else { return html + shell.end }
        html += "<script type=\"application/json\" id=\"document\" data-path=\"".utf8
        // Ids have no character that means something here.
        html += document.path.utf8
        html += "\">".utf8
        // In JSON a < is always part of a string; as it is, </script> in a text would end the document.
        var rest = document.json[...]
        while let sign = rest.firstIndex(of: UInt8(ascii: "<")) {
            html += rest[..<sign]
            html += "\\u003c".utf8
            rest = rest[(sign + 1)...]
        }
        html += rest
        html += "</script>".utf8
        return html + shell.end
    }

    /// A file of this version: `/a/{version}/{file}`, for good.
    func file(version: String, path: String, acceptsGzip: Bool) -> HTTPAnswer? {
        guard version == assets.version, let asset = assets[path] else { return nil }
        return Pages.answer(asset, acceptsGzip, cache: "public, max-age=31536000, immutable")
    }

    /// The worker that shows pages without the server. It lies at the root, so that it may do so for all pages.
    func worker(acceptsGzip: Bool) -> HTTPAnswer? {
        assets["store/sw.js"].map { Pages.answer($0, acceptsGzip, isWorker: true, cache: "no-cache") }
    }

    /// What a language model should know of the store, where such programs look for it.
    func advice(acceptsGzip: Bool) -> HTTPAnswer? {
        assets["store/llms.txt"].map { Pages.answer($0, acceptsGzip, cache: "no-cache") }
    }

    private static func answer(
        _ asset: WebAsset, _ acceptsGzip: Bool, isWorker: Bool = false, cache: String
    ) -> HTTPAnswer {
        // The rules of a page hold for what it loads, but a worker has its own.
        var fields = isWorker ? Fields.ofPages : Fields.ofData
        fields.append(("Content-Type", asset.mediaType))
        fields.append(("Cache-Control", cache))
        fields.append(("Vary", "Accept-Encoding"))
        if acceptsGzip, let compressed = asset.compressed {
            fields.append(("Content-Encoding", "gzip"))
            return HTTPAnswer(.ok, fields: fields, body: compressed[...])
        }
        return HTTPAnswer(.ok, fields: fields, body: asset.bytes[...])
    }
}
