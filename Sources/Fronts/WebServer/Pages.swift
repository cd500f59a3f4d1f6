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
        Page(site: .console, path: "/login", shell: "console/login.html", modules: ["console/login.js"]),
        Page(site: .console, path: "/", shell: "console/shell.html", modules: ["console/main.js"]),
    ]

    static let table = PathTable(all.map { ($0.path, $0) })

    private static let markOfModules = "<!--modules-->"
    private static let markOfDocument = "<!--document-->"

    let assets: WebAssets
    /// Each page by its path, before and behind the mark for its document.
    private let shells: [String: (start: [UInt8], end: [UInt8])]

    init(_ assets: WebAssets) {
        self.assets = assets
        shells = Dictionary(
            Pages.all.map { page in
                let links = assets.imports(of: page.modules).map {
                    "<link rel=\"modulepreload\" href=\"/a/\(assets.version)/\($0)\">"
                }
                let text = String(decoding: assets[page.shell]?.bytes ?? [], as: UTF8.self)
                    .replacing(Pages.markOfModules, with: links.joined(separator: "\n"))
                let parts = text.split(separator: Pages.markOfDocument, maxSplits: 1, omittingEmptySubsequences: false)
                return (page.path, (Array(parts[0].utf8), Array((parts.count > 1 ? parts[1] : "").utf8)))
            }
        ) { first, _ in first }
    }

    /// A page with a document in it.
    ///
    /// - Parameters:
    ///   - path: where the document comes from.
    ///   - document: as JSON.
    func html(_ page: Page, _ document: (path: String, json: [UInt8])?) -> [UInt8] {
        guard let (start, end) = shells[page.path] else { return [] }
        guard let document else { return start + end }
        var html = start
        html.reserveCapacity(start.count + end.count + document.json.count + 200)
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
        return html + end
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
