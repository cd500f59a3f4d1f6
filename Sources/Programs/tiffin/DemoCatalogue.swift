internal import Application
internal import EventLoop
internal import Serving
internal import TextFormats

/// The catalogue that `serve --demo` loads, by the commands that a client would send.
enum DemoCatalogue {
    /// Why it could not be loaded.
    struct LoadingError: Error, CustomStringConvertible {
        let description: String
    }

    /// Registers outlets with their menus and promotions, and opens them.
    ///
    /// - Parameter json: `{"outlets":[{"id","outlet":{…},"menu":{…},"promotions":{"id":{…}}}]}`, with the documents of
    ///   `OUTLET.PUT`, `MENU.PUT` and `PROMO.PUT`.
    /// - Returns: how many outlets there are in it.
    @LoopActor
    static func load(_ json: [UInt8], into service: Server) async throws(LoadingError) -> Int {
        for outlet in try outlets(in: json) {
            let id = Array(outlet.id.utf8)
            try await perform("OUTLET.PUT", [id, outlet.details], service)
            try await perform("MENU.PUT", [id, outlet.menu], service)
            for promotion in outlet.promotions {
                try await perform("PROMO.PUT", [id, Array(promotion.id.utf8), promotion.document], service)
            }
            try await perform("OUTLET.OPEN", [id], service)
        }
        return try outlets(in: json).count
    }

    @LoopActor
    private static func perform(
        _ command: String, _ arguments: [[UInt8]], _ service: Server
    ) async throws(LoadingError) {
        do throws(Failure) {
            _ = try await service.perform([Array(command.utf8)] + arguments)
        } catch {
            throw LoadingError(
                description: "\(command) \(String(decoding: arguments[0], as: UTF8.self)): \(error.message)")
        }
    }

    private typealias Outlet = (
        id: String, details: [UInt8], menu: [UInt8], promotions: [(id: String, document: [UInt8])]
    )

    private static func outlets(in json: [UInt8]) throws(LoadingError) -> [Outlet] {
        do throws(JSONReadingError) {
            return try JSONReader.read(json) { reader throws(JSONReadingError) in
                var outlets: [Outlet] = []
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    guard key == "outlets" else { throw reader.failure("no other member than outlets") }
                    try reader.beginArray()
                    while try reader.nextElement() { outlets.append(try outlet(&reader)) }
                }
                return outlets
            }
        } catch {
            throw LoadingError(description: "\(error)")
        }
    }

    private static func outlet(_ reader: inout JSONReader) throws(JSONReadingError) -> Outlet {
        var outlet: Outlet = ("", [], [], [])
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": outlet.id = try reader.string()
            case "outlet": outlet.details = Array(try reader.rawValue())
            case "menu": outlet.menu = Array(try reader.rawValue())
            case "promotions":
                try reader.beginObject()
                while let id = try reader.nextKey() {
                    outlet.promotions.append((id.description, Array(try reader.rawValue())))
                }
            default: throw reader.failure("id, outlet, menu or promotions")
            }
        }
        return outlet
    }
}
