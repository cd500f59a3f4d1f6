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
        let operations = (all.map(\.operation) + Operation.besideTable).filter { site.map($0.sites.contains) ?? true }
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
            "An operation with an x-command runs that command of the line protocol; docs/reference/ describes it, "
                + "docs/http.md the rest.")
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
        for operation in operations where !paths.contains(operation.path) { paths.append(operation.path) }
        for path in paths {
            writer.key(dynamic: path)
            writer.beginObject()
            for operation in operations where operation.path == path {
                writer.key(dynamic: operation.method.lowercased())
                operation.write(to: &writer)
            }
            writer.endObject()
        }
        writer.endObject()
        // What commands answer in the line protocol, where an operation may say it otherwise.
        let answers = site == nil ? Route.answers : []
        if site == nil {
            writer.key("x-answers")
            writer.beginObject()
            for (name, answer) in answers {
                writer.key(dynamic: name)
                answer.write(to: &writer, in: .openAPI)
            }
            writer.endObject()
        }
        writer.key("components")
        writer.beginObject()
        writer.key("schemas")
        let schemas = operations.flatMap(\.schemas) + [Problem.schema] + answers.map(\.schema)
        JSONSchema.write(JSONSchema.definitions(in: schemas), to: &writer, in: .openAPI)
        writer.key("responses")
        writer.raw(problemResponse.utf8)
        writer.endObject()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// What each command answers in the line protocol.
    private static var answers: [(command: String, schema: JSONSchema)] {
        commands.compactMap { command in
            command.declaration.answers.map { (command.declaration.name, $0) }
        }
    }

    /// Every named schema of what both sites, and the line protocol, answer.
    static var definitions: [(name: String, schema: JSONSchema)] {
        let operations = all.map(\.operation) + Operation.besideTable
        return JSONSchema.definitions(
            in: operations.flatMap(\.schemas) + [Problem.schema] + answers.map(\.schema))
    }

    private static let problemResponse =
        ##"{"Problem":{"description":"refused before the command runs","content":"##
        + ##"{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}}"##

    /// What it is in the OpenAPI document.
    var operation: Operation {
        let command = command.declaration
        var operation = Operation(name, method, path, sites, command.summary)
        operation.command = command.name
        for parameter in parameters {
            switch parameter.place {
            case .path, .query: operation.parameters.append(parameter.described(by: command))
            case .filters: operation.parameters.append(.filters)
            case .body: operation.body.append(parameter.described(by: command))
            case .content:
                let document = command.parameterDescriptions.lazy.compactMap(\.schema).first
                operation.content = document.map(Operation.Content.document) ?? .picture
            case .cart, .customer: break
            }
        }
        if isWrite {
            operation.parameters.append(
                Operation.Parameter("version", in: "query", isRequired: false, .count, "only if it has that version"))
            operation.parameters.append(
                Operation.Parameter("Idempotency-Key", in: "header", isRequired: false, .string, "to send it again"))
        }
        operation.answers = answers
        operation.codes = codes
        return operation
    }

    /// What it answers where nothing is wrong: statuses, each with what it means and its document.
    private var answers: [(status: HTTPStatus, meaning: String, schema: JSONSchema?)] {
        var answers: [(status: HTTPStatus, meaning: String, schema: JSONSchema?)] = []
        let document = command.declaration.answers
        var isList = false
        switch reply {
        case .number(let name):
            let title = name == "count" ? "CartCount" : "Version"
            answers.append((.ok, "the \(name)", .object([.member(name, .count)]).named(title)))
        case .order:
            answers.append((.created, "what was made", .object([.member("order", .identifier)]).named("PlacedOrder")))
        case .begun: answers.append((.accepted, "what was begun", document))
        case .own: answers.append((.ok, "the document; null where there is none yet", document))
        case .list:
            isList = true
            answers.append((.ok, "the list", document))
        case .document: answers.append((.ok, "the document", document?.withoutNull))
        }
        // A list is empty then.
        if !isList, parameters.contains(where: { $0.name == "since" || $0.place == .filters }) {
            answers.append((.noContent, "nothing has changed", nil))
        }
        return answers
    }

    /// The codes of its problems.
    private var codes: [String] {
        var codes = command.declaration.refusals.map(\.word) + ["DENIED"]
        if sites.contains(.console) { codes.append("NOAUTH") }
        // What does not exist, and what is somebody else's.
        if !codes.contains("NOTFOUND") { codes.append("NOTFOUND") }
        return codes
    }
}

extension Route.Parameter {
    /// The parameter with the values that the command takes.
    fileprivate func described(by command: CommandDeclaration) -> Operation.Parameter {
        let known = command.parameterDescriptions.first { token == nil ? $0.name == name : $0.token == token }
        return Operation.Parameter(
            name, in: place.rawValue, isRequired: isRequired, isInteger ? .integer : .string, known?.accepted)
    }
}
