internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import TextFormats
internal import WebServer

enum SchemaCommand: Subcommand {
    static let name = "schema"
    static let summary = "prints the schemas of documents and events"

    static let operands = ["<name>…"]
    static let options: [any DeclaredOption] = [openAPI, asyncAPI]

    static let about: String? = """
        Without names, lists them: the documents that a server of this version answers, with their parts, and then the
        kinds of events that it records. With names, prints the JSON Schema of each, in one line.
        """

    private static let openAPI = Option.flag("openapi", "prints the OpenAPI document of the web server instead")
    private static let asyncAPI = Option.flag(
        "asyncapi", "prints the AsyncAPI document of topics and webhooks instead")

    static func run(_ options: Options) async throws -> ExitCode {
        let whole =
            (options[openAPI] ? [Descriptions.openAPI] : []) + (options[asyncAPI] ? [Descriptions.asyncAPI] : [])
        guard whole.isEmpty else {
            guard whole.count == 1, options.operands.isEmpty else {
                throw UsageError("give names, --openapi or --asyncapi")
            }
            Terminal.print(whole[0])
            return .success
        }
        let documents = Descriptions.documents
        guard !options.operands.isEmpty else {
            for name in documents.map(\.name) + EventSchema.all.map(\.kind) { Terminal.print(name) }
            return .success
        }
        for name in options.operands {
            let schema: [UInt8]
            if let document = documents.first(where: { $0.name == name }) {
                schema = document.schema.document(titled: name)
            } else if let event = EventSchema.all.first(where: { $0.kind == name }) {
                let versions = event.versions.map(String.init).joined(separator: ", ")
                schema = event.payload.document(titled: name, saying: "\(event.meaning) Version \(versions).")
            } else {
                throw UsageError("there is no document and no event '\(name)': 'tiffin schema' lists them")
            }
            Terminal.print(String(decoding: schema, as: UTF8.self))
        }
        return .success
    }
}
