internal import Application
internal import EventLoop
internal import TextFormats

/// The catalogue that `serve --demo` loads, by the commands that a client would send.
enum DemoCatalogue {
    /// Why it could not be loaded.
    struct LoadingError: Error, CustomStringConvertible {
        let description: String
    }

    /// Registers outlets with their menus and opens them.
    ///
    /// - Parameter json: `{"outlets":[{"id","outlet":{…},"menu":{…}}]}`, with the documents of `OUTLET.PUT` and
    ///   `MENU.PUT`.
    /// - Returns: how many outlets there are in it.
    @LoopActor
    static func load(_ json: [UInt8], into application: Application) async throws(LoadingError) -> Int {
        for outlet in try outlets(in: json) {
            try await perform("OUTLET.PUT", outlet.id, outlet.details, application)
            try await perform("MENU.PUT", outlet.id, outlet.menu, application)
            try await perform("OUTLET.OPEN", outlet.id, nil, application)
        }
        return try outlets(in: json).count
    }

    @LoopActor
    private static func perform(
        _ command: String, _ outlet: String, _ document: [UInt8]?, _ application: Application
    ) async throws(LoadingError) {
        do throws(Failure) {
            _ = try await application.perform(
                [Array(command.utf8), Array(outlet.utf8)] + (document.map { [$0] } ?? []))
        } catch {
            throw LoadingError(description: "\(command) \(outlet): \(error.message)")
        }
    }

    private typealias Outlet = (id: String, details: [UInt8], menu: [UInt8])

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
        var outlet: Outlet = ("", [], [])
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": outlet.id = try reader.string()
            case "outlet": outlet.details = Array(try reader.rawValue())
            case "menu": outlet.menu = Array(try reader.rawValue())
            default: throw reader.failure("id, outlet or menu")
            }
        }
        return outlet
    }
}
