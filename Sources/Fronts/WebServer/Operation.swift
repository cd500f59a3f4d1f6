internal import Application
internal import HTTP
internal import TextFormats

/// An operation of the OpenAPI document: what a request takes, what it answers, and why it can be refused.
struct Operation: Sendable {
    struct Parameter: Sendable {
        var name: String
        /// `path`, `query`, `header` or `body`.
        var place: String
        var isRequired: Bool
        var schema: JSONSchema

        init(_ name: String, in place: String, isRequired: Bool, _ schema: JSONSchema, _ description: String? = nil) {
            self.name = name
            self.place = place
            self.isRequired = isRequired
            self.schema = schema.saying(description)
        }

        /// Filters are an object whose members are keys of the query.
        static let filters = Parameter(
            "filters", in: "query", isRequired: false,
            .object(others: .oneOf([.string, .list(of: .string)])), "filters and options, as docs/http.md has them")
    }

    /// A body that is no object of parameters.
    enum Content: Sendable {
        case document(JSONSchema)
        case picture
    }

    /// What generated clients call it.
    var name: String
    var method: String
    var path: String
    var sites: Set<Site>
    var summary: String
    /// The command that it runs, if it runs one.
    var command: String?
    var parameters: [Parameter] = []
    /// The members of the body.
    var body: [Parameter] = []
    var content: Content?
    /// What it answers where nothing is wrong.
    var answers: [(status: HTTPStatus, meaning: String, schema: JSONSchema?)] = []
    /// What the answers are.
    var mediaType = "application/json"
    /// The codes of its problems.
    var codes: [String] = []

    init(_ name: String, _ method: String, _ path: String, _ sites: Set<Site>, _ summary: String) {
        self.name = name
        self.method = method
        self.path = path
        self.sites = sites
        self.summary = summary
    }

    /// The schemas of its answers and its body.
    var schemas: [JSONSchema] {
        guard case .document(let document) = content else { return answers.compactMap(\.schema) }
        return answers.compactMap(\.schema) + [document]
    }
}

// MARK: What is not in the table of routes

extension Operation {
    /// Streams, logins, pictures, and how the server is.
    static let besideTable = [stream, logIn, session, logOut, information, picture]

    private static let both: Set<Site> = [.store, .console]

    private static var stream: Operation {
        var stream = Operation("openStream", "GET", "/v1/stream", both, "Follows documents as they change.")
        stream.parameters = [
            Parameter(
                "t", in: "query", isRequired: true, .list(of: .string),
                "topics: a channel such as home:copper-ladle, with @ and a revision where one is known; cart or "
                    + "cart_count for one's own; browse? or outlets? with filters")
        ]
        stream.answers = [(.ok, "each event's name is a topic as it was asked for", streamSchema)]
        stream.mediaType = "text/event-stream"
        stream.codes = ["INVALID", "NOAUTH", "DENIED", "NOPERM", "NOTFOUND", "LIMIT", "BUSY", "LOADING", "UNAVAILABLE"]
        return stream
    }

    private static let streamSchema = JSONSchema.object([
        .member("event", .string, "the topic"),
        .member("data", TopicKind.messages, "a JSON text of this"),
    ]).named("StreamEvent")

    private static let sessionSchema = JSONSchema.object([
        .member("user", .identifier.orNull, "null where there are no users"), .member("role", .string),
    ]).named("Session")

    private static var logIn: Operation {
        var logIn = Operation("logIn", "POST", "/v1/session", [.console], "Logs in, and sets the cookie.")
        logIn.body = [
            Parameter("name", in: "body", isRequired: true, .string),
            Parameter("password", in: "body", isRequired: true, .string, "a password or a token"),
        ]
        logIn.answers = [(.ok, "who has logged in", sessionSchema)]
        logIn.codes = ["ERR", "INVALID", "WRONGPASS", "DENIED", "BUSY", "UNAVAILABLE"]
        return logIn
    }

    private static var session: Operation {
        var session = Operation("getSession", "GET", "/v1/session", [.console], "Says who the caller is.")
        session.answers = [(.ok, "who has logged in", sessionSchema)]
        session.codes = ["NOAUTH", "DENIED"]
        return session
    }

    private static var logOut: Operation {
        var logOut = Operation("logOut", "DELETE", "/v1/session", [.console], "Logs out.")
        logOut.answers = [(.noContent, "nobody is logged in any more", nil)]
        logOut.codes = ["DENIED"]
        return logOut
    }

    private static var information: Operation {
        var information = Operation("getInformation", "GET", "/v1/info", [.console], "Returns what INFO says.")
        information.answers = [
            (
                .ok, "facts by section, as docs/info.md has them",
                .object(others: .object(others: .string)).named("Information")
            )
        ]
        information.codes = ["NOAUTH", "DENIED", "NOPERM"]
        return information
    }

    private static var picture: Operation {
        var picture = Operation("getPicture", "GET", "/pictures/{digest}", both, "Returns a picture of a menu.")
        picture.parameters = [Parameter("digest", in: "path", isRequired: true, .string)]
        picture.answers = [(.ok, "the picture", .string)]
        picture.mediaType = "image/*"
        picture.codes = ["NOTFOUND", "NOAUTH", "BUSY", "UNAVAILABLE"]
        return picture
    }
}

// MARK: Writing

extension Operation {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("operationId", name)
        if let command { writer.field("x-command", command) }
        writer.field("summary", summary)
        writer.field("tags", Site.allCases.filter(sites.contains).map(\.rawValue))
        writer.key("parameters")
        writer.beginArray()
        for parameter in parameters { write(parameter, to: &writer) }
        writer.endArray()
        writeBody(to: &writer)
        writer.key("responses")
        writer.beginObject()
        for (status, meaning, schema) in answers { write(status, meaning, schema, to: &writer) }
        let problems = Problem.statuses(of: codes)
        for (status, codes) in problems { writeProblem("\(status.rawValue)", codes, to: &writer) }
        writeProblem("default", [], to: &writer)
        writer.endObject()
        writer.key("x-codes")
        writer.beginObject()
        for (status, codes) in problems {
            writer.key(dynamic: "\(status.rawValue)")
            writer.beginArray()
            for code in codes { writer.string(code) }
            writer.endArray()
        }
        writer.endObject()
        writer.endObject()
    }

    /// - Parameter codes: the codes with this status.
    private func writeProblem(_ status: String, _ codes: [String], to writer: inout JSONWriter) {
        writer.key(dynamic: status)
        writer.beginObject()
        writer.field("$ref", "#/components/responses/Problem")
        if !codes.isEmpty { writer.field("description", codes.joined(separator: ", ")) }
        writer.endObject()
    }

    private func write(_ parameter: Parameter, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", parameter.name)
        writer.field("in", parameter.place)
        writer.field("required", parameter.isRequired)
        writer.key("schema")
        parameter.schema.write(to: &writer, in: .openAPI)
        writer.endObject()
    }

    private func writeBody(to writer: inout JSONWriter) {
        guard content != nil || !body.isEmpty else { return }
        writer.key("requestBody")
        writer.beginObject()
        writer.field("required", content != nil || body.contains(where: \.isRequired))
        writer.key("content")
        writer.beginObject()
        if case .picture = content { writer.key("image/*") } else { writer.key("application/json") }
        writer.beginObject()
        writer.key("schema")
        switch content {
        case .picture: JSONSchema.string.write(to: &writer, in: .openAPI)
        case .document(let document): document.write(to: &writer, in: .openAPI)
        case nil:
            JSONSchema.object(
                body.map { $0.isRequired ? .member($0.name, $0.schema) : .optional($0.name, $0.schema.orNull) }
            ).write(to: &writer, in: .openAPI)
        }
        writer.endObject()
        writer.endObject()
        writer.endObject()
    }

    private func write(_ status: HTTPStatus, _ meaning: String, _ schema: JSONSchema?, to writer: inout JSONWriter) {
        writer.key(dynamic: "\(status.rawValue)")
        writer.beginObject()
        writer.field("description", meaning)
        if let schema {
            writer.key("content")
            writer.beginObject()
            writer.key(dynamic: mediaType)
            writer.beginObject()
            writer.key("schema")
            schema.write(to: &writer, in: .openAPI)
            writer.endObject()
            writer.endObject()
        }
        writer.endObject()
    }
}
