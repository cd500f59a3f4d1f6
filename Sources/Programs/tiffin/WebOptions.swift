internal import CommandLineOptions
internal import Foundation
internal import WebServer

/// The options of the web server.
enum WebOptions {
    static let all: [any DeclaredOption] = [store, console, hosts, proxies, connections, addressConnections, streams]

    private enum Place {
        case off
        case address(String, UInt16)
    }

    private static let place = OptionValue("host:port or off") { text in
        text == "off" ? Place.off : ServeCommand.listenAddress(text).map { Place.address($0.0, $0.1) }
    }

    private static let store = Option.optional(
        "web", "host:port|off", "where the store is for browsers; 127.0.0.1:7380 if that is free", place)
    private static let console = Option.optional(
        "console", "host:port|off", "the same of the console and the metrics; 127.0.0.1:7381 if that is free", place)
    private static let hosts = Option.repeated(
        "web-host", "name", "a host that requests may be for, besides those that name this machine")
    private static let proxies = Option.repeated(
        "web-proxy", "address", "a proxy in front, whose word on its clients' addresses counts")
    private static let connections = Option.value(
        "web-max-connections", "count", "the most connections of browsers at once", .integer(1...1_000_000),
        default: "10000")
    private static let addressConnections = Option.value(
        "web-max-connections-per-address", "count", "the same of one address, except for proxies",
        .integer(1...1_000_000), default: "100")
    private static let streams = Option.value(
        "web-max-streams", "count", "the most event streams of one browser at once", .integer(1...1_000_000),
        default: "8")

    static func configuration(_ options: Options, isProtected: Bool) throws(UsageError) -> WebConfiguration {
        var configuration = WebConfiguration()
        configuration.isProtected = isProtected
        for (site, place, port) in [(Site.store, options[store], UInt16(7_380)), (.console, options[console], 7_381)] {
            switch place {
            case .off?: break
            case .address(let host, let port)?:
                configuration.addresses[site] = .init(host: host, port: port, isRequired: true)
            case nil: configuration.addresses[site] = .init(host: "127.0.0.1", port: port, isRequired: false)
            }
        }
        configuration.hosts = Set(options[hosts].map { $0.lowercased() })
        configuration.proxies = Set(options[proxies])
        configuration.maximumConnections = options[connections]
        configuration.maximumConnectionsOfAddress = options[addressConnections]
        configuration.maximumStreamsOfCookie = options[streams]
        return configuration
    }
}
