internal import Application
internal import HTTP
internal import TextFormats

// The documents that are written from the table of routes: tests hold them to it.
extension Route {
    /// The table in docs/http.md.
    static var markdown: String {
        let rows = all.map { route in
            let sites = Site.allCases.filter(route.sites.contains).map(\.rawValue).joined(separator: ", ")
            let named = route.parameters.filter { [.query, .body].contains($0.place) }.map { parameter in
                let name = "`\(parameter.name)`"
                return parameter.isRequired ? name : "[\(name)]"
            }
            let others = route.parameters.compactMap { parameter -> String? in
                switch parameter.place {
                case .content: route.takesPicture ? "a picture" : "a document"
                case .filters: "filters"
                case .path, .query, .body, .cart, .customer: nil
                }
            }
            return "| `\(route.method) \(route.path)` | \(sites) | `\(route.command.declaration.name)` | "
                + "\((named + others).joined(separator: " ")) |\n"
        }
        return "\n| route | at | runs | takes |\n| --- | --- | --- | --- |\n\(rows.joined())\n"
    }

    /// The OpenAPI document of each site, as it serves it.
    static let openAPIDocuments = Dictionary(
        uniqueKeysWithValues: Site.allCases.map { ($0, Array(openAPI(of: $0).utf8)) })

    /// The OpenAPI document of a site; of both where none is named.
    static func openAPI(of site: Site? = nil) -> String {
        let all = Route.all.filter { site.map($0.sites.contains) ?? true }
        let local: [(String, Site)] = [("http://127.0.0.1:7380", .store), ("http://127.0.0.1:7381", .console)]
        let servers = site.map { [("/", $0)] } ?? local
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("openapi", "3.1.0")
        writer.key("info")
        writer.beginObject()
        writer.field("title", "Tiffin")
        writer.field("version", Version.current)
        writer.field(
            "description",
            "Each operation runs a command of the line protocol, its x-command; docs/reference/ describes "
                + "the documents, docs/http.md the rest.")
        writer.endObject()
        writer.key("servers")
        writer.beginArray()
        for (url, name) in servers {
            writer.beginObject()
            writer.field("url", url)
            writer.field("description", name.rawValue)
            writer.endObject()
        }
        writer.endArray()
        writer.key("paths")
        writer.beginObject()
        var paths: [String] = []
        for route in all where !paths.contains(route.path) { paths.append(route.path) }
        for path in paths {
            writer.key(dynamic: path)
            writer.beginObject()
            for route in all where route.path == path {
                writer.key(dynamic: route.method.lowercased())
                route.writeOperation(to: &writer)
            }
            writer.endObject()
        }
        writer.endObject()
        writer.key("components")
        writer.raw(components.utf8)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static let components =
        ##"{"schemas":{"Problem":{"type":"object","required":["type","title","status","code","detail"],"properties":{"##
        + ##""type":{"const":"about:blank"},"title":{"type":"string"},"status":{"type":"integer"},"##
        + ##""code":{"type":"string"},"detail":{"type":"string"}}}},"##
        + ##""responses":{"Problem":{"description":"why there is no other answer","content":"##
        + ##"{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}}}"##

    private func writeOperation(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("operationId", method.lowercased() + path.filter { !"{}".contains($0) }.replacing("/", with: "_"))
        writer.field("x-command", command.declaration.name)
        writer.field("summary", command.declaration.summary)
        writer.field("tags", Site.allCases.filter(sites.contains).map(\.rawValue))
        writer.key("parameters")
        writer.beginArray()
        for parameter in parameters {
            switch parameter.place {
            case .path: write(parameter.name, in: "path", isRequired: true, "string", to: &writer)
            case .query:
                write(parameter.name, in: "query", isRequired: parameter.isRequired, parameter.type, to: &writer)
            case .filters: writeFilters(to: &writer)
            case .body, .content, .cart, .customer: break
            }
        }
        if isWrite {
            write("version", in: "query", isRequired: false, "integer", to: &writer)
            write("Idempotency-Key", in: "header", isRequired: false, "string", to: &writer)
        }
        writer.endArray()
        writeBody(to: &writer)
        writer.key("responses")
        writer.beginObject()
        switch reply {
        case .order: writeResponse("201", "what was made", "{\"type\":\"object\"}", to: &writer)
        case .begun: writeResponse("202", "what was begun", "{\"type\":\"object\"}", to: &writer)
        case .document, .own, .list, .number: writeResponse("200", "the answer", "{}", to: &writer)
        }
        // A list is empty then.
        let isList = if case .list = reply { true } else { false }
        if !isList, parameters.contains(where: { $0.name == "since" }) {
            writeResponse("204", "nothing has changed", nil, to: &writer)
        }
        writer.key("default")
        writer.raw(##"{"$ref":"#/components/responses/Problem"}"##.utf8)
        writer.endObject()
        writer.endObject()
    }

    private func write(
        _ name: String, in place: String, isRequired: Bool, _ type: String, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.field("name", name)
        writer.field("in", place)
        writer.field("required", isRequired)
        writer.key("schema")
        writer.raw("{\"type\":\"\(type)\"}".utf8)
        writer.endObject()
    }

    /// Filters are an object whose members are keys of the query.
    private func writeFilters(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", "filters")
        writer.field("in", "query")
        writer.field("style", "form")
        writer.field("explode", true)
        writer.key("schema")
        writer.raw(
            #"{"type":"object","additionalProperties":{"type":["string","array"],"items":{"type":"string"}}}"#.utf8)
        writer.endObject()
    }

    private func writeBody(to writer: inout JSONWriter) {
        let members = parameters.filter { $0.place == .body }
        let isDocument = parameters.contains { $0.place == .content }
        guard isDocument || !members.isEmpty else { return }
        writer.key("requestBody")
        writer.beginObject()
        writer.field("required", isDocument || members.contains(where: \.isRequired))
        writer.key("content")
        writer.beginObject()
        writer.key(takesPicture ? "image/*" : "application/json")
        writer.beginObject()
        writer.key("schema")
        writer.beginObject()
        writer.field("type", takesPicture ? "string" : "object")
        if !isDocument {
            writer.field("required", members.filter(\.isRequired).map(\.name))
            writer.key("properties")
            writer.beginObject()
            for member in members {
                writer.key(dynamic: member.name)
                writer.raw("{\"type\":\"\(member.type)\"}".utf8)
            }
            writer.endObject()
            writer.field("additionalProperties", false)
        }
        writer.endObject()
        writer.endObject()
        writer.endObject()
        writer.endObject()
    }

    private func writeResponse(
        _ status: StaticString, _ description: String, _ schema: String?, to writer: inout JSONWriter
    ) {
        writer.key(status)
        writer.beginObject()
        writer.field("description", description)
        if let schema {
            writer.key("content")
            writer.raw("{\"application/json\":{\"schema\":\(schema)}}".utf8)
        }
        writer.endObject()
    }
}

extension Route.Parameter {
    fileprivate var type: String { isInteger ? "integer" : "string" }
}
