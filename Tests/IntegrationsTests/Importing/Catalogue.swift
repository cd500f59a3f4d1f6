import EventLoop
import Foundation
import LineClient
import LineProtocol

@testable import Integrations

/// As much of a server as an import sees: it registers outlets, records changes, and keeps menus.
struct Catalogue {
    struct Outlet {
        var document: [String: JSON]
        var version: Int64
        var status: String
    }

    var outlets: [String: Outlet] = [:]
    var menus: [String: (document: String, version: Int64)] = [:]
    /// What feeds were found to hold, by outlet.
    var feeds: [String: String] = [:]
    /// An outlet that somebody else renames as soon as it was looked at.
    var changedAfterLook: String?
    /// Errors for commands about an outlet, by command and id: `OUTLET.PUT 7`.
    var refusals: [String: Reply] = [:]
    /// The names of the commands, as they came.
    private(set) var commands: [String] = []

    mutating func answer(_ command: [String]) -> Reply {
        commands.append(command[0])
        let id = command[1]
        if let refusal = refusals["\(command[0]) \(id)"] { return refusal }
        switch command[0] {
        case "OUTLET.GET":
            let reply = get(id)
            if changedAfterLook == id {
                outlets[id]?.document["name"] = .text("by somebody else")
                outlets[id]?.version += 1
            }
            return reply
        case "OUTLET.PUT": return put(id, command[2], version: command.count > 4 ? command[4] : nil)
        case "OUTLET.OPEN": return open(id)
        case "MENU.GET": return menus[id].map { .bulk(Array(#"{"version":\#($0.version)}"#.utf8)) } ?? .null
        case "MENU.PUT": return putMenu(id, command[2])
        case "MENU.FEED.GET": return feeds[id].map { .bulk(Array($0.utf8)) } ?? .null
        case "MENU.FEED.PUT":
            guard outlets[id] != nil else { return .error(code: "NOTFOUND", message: "no such outlet") }
            feeds[id] = command[2]
            return .integer((menus[id]?.version ?? 0) + 1)
        default: return .error(code: "ERR", message: "unknown command '\(command[0])'")
        }
    }

    private func get(_ id: String) -> Reply {
        guard let outlet = outlets[id] else { return .null }
        var document = outlet.document
        document["id"] = .text(id)
        document["version"] = .number(Double(outlet.version))
        document["status"] = .text(outlet.status)
        document["currency"] = document["currency"] ?? .text("")
        return .bulk(Array((try? JSONEncoder().encode(document)) ?? Data()))
    }

    private mutating func put(_ id: String, _ text: String, version: String?) -> Reply {
        guard var document = try? JSONDecoder().decode([String: JSON].self, from: Data(text.utf8)) else {
            return .error(code: "INVALID", message: "the document is not JSON")
        }
        for key in ["id", "version", "status"] { document[key] = nil }
        var outlet = outlets[id] ?? Outlet(document: [:], version: 0, status: "closed")
        guard version == nil || version == String(outlet.version) else {
            return .error(code: "CONFLICT", message: "expected version \(version ?? ""), found \(outlet.version)")
        }
        if outlet.document != document || outlet.version == 0 {
            outlet.document = document
            outlet.version += 1
        }
        outlets[id] = outlet
        return .integer(outlet.version)
    }

    private mutating func open(_ id: String) -> Reply {
        guard var outlet = outlets[id] else { return .error(code: "NOTFOUND", message: "no such outlet") }
        if outlet.status != "open" {
            outlet.status = "open"
            outlet.version += 1
        }
        outlets[id] = outlet
        return .integer(outlet.version)
    }

    private mutating func putMenu(_ id: String, _ text: String) -> Reply {
        guard outlets[id] != nil else { return .error(code: "NOTFOUND", message: "no such outlet") }
        var menu = menus[id] ?? ("", 0)
        if menu.document != text { menu = (text, menu.version + 1) }
        menus[id] = menu
        return .integer(menu.version)
    }
}

/// A value of an outlet's document, read by a decoder that is not ours.
enum JSON: Equatable, Codable {
    case text(String)
    case number(Double)
    case list([String])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .list(try container.decode([String].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .list(let texts): try container.encode(texts)
        }
    }
}

/// A connection to a catalogue in this process.
@LoopActor
final class DirectConnection: CommandConnection {
    var catalogue = Catalogue()
    private var unanswered: [[String]] = []
    /// The most commands that waited for an answer at once.
    private(set) var mostUnanswered = 0

    func enqueue(_ command: [String]) {
        unanswered.append(command)
        mostUnanswered = max(mostUnanswered, unanswered.count)
    }

    func nextReply() -> Reply {
        catalogue.answer(unanswered.removeFirst())
    }
}
