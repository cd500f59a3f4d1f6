import EventLogContract
import Foundation
import SeededRandom
import Testing

@testable import EventLog
@testable import TextFormats

/// What is written is what is declared, and docs/events.md says it.
@Suite struct EventSchemaTests {
    @Test func `every kind has a schema, and no other`() {
        #expect(EventSchema.all.map(\.kind).sorted() == EventCase.allCases.map(\.rawValue).sorted())
    }

    @Test func `every version that is written has a golden text`() {
        let written = EventSchema.all.flatMap { schema in schema.versions.map { "\(schema.kind) \($0)" } }
        let golden = Set(GoldenEvent.all.map { "\($0.kind.name) \($0.kind.schemaVersion)" })
        #expect(written.filter { !golden.contains($0) } == [])
    }

    @Test func `every event fits its schema, and every member that is declared is written`() throws {
        var check = SchemaCheck()
        let schemas = Dictionary(uniqueKeysWithValues: EventSchema.all.map { ($0.kind, $0) })
        func take(_ kind: EventKind, _ payload: [UInt8]) throws {
            let schema = try #require(schemas[kind.name])
            #expect(schema.versions.contains(kind.schemaVersion), "\(kind)")
            let problem = check.problem(with: try JSONValue(payload), schema.payload, of: kind.name)
            #expect(problem == nil, "\(String(decoding: payload, as: UTF8.self))")
        }
        for golden in GoldenEvent.all { try take(golden.kind, Array(golden.text.utf8)) }
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            for eventCase in EventCase.allCases {
                let (kind, payload) = EventCodec.encode(eventCase.random(&random))
                try take(kind, payload)
            }
        }
        let declared = EventSchema.all.reduce(into: Set<String>()) {
            $0.formUnion(SchemaCheck.declared(in: $1.payload, of: $1.kind))
        }
        #expect(declared.subtracting(check.met).sorted() == [])
    }

    // MARK: docs/events.md

    private static let begin = "<!-- events: written by EventLogTests from the schemas -->\n"
    private static let end = "<!-- end of events -->"

    @Test func `docs/events.md has every kind`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/events.md")
            .standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(text.range(of: Self.begin)?.upperBound)
        let end = try #require(text.range(of: Self.end, range: begin..<text.endIndex)?.lowerBound)
        if ProcessInfo.processInfo.environment["TIFFIN_WRITE_DOCS"] == "1" {
            let written = text[..<begin] + Self.markdown + text[end...]
            try String(written).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[begin..<end] == Self.markdown, "to write it: TIFFIN_WRITE_DOCS=1 Scripts/check EventSchemaTests")
        }
    }

    private static var markdown: String {
        let kinds = EventSchema.all.map { event in
            let versions = event.versions.map(String.init).joined(separator: ", ")
            let history = event.history.map { ": \($0)" } ?? ""
            let table = event.payload.members.isEmpty ? "It has no fields." : table(of: event.payload)
            return
                "\n### \(event.kind)\n\n\(event.meaning)\n\nVersion\(event.versions.count == 1 ? "" : "s") \(versions)\(history).\n\n\(table)\n"
        }
        let parts = JSONSchema.definitions(in: EventSchema.all.map(\.payload)).sorted { $0.name < $1.name }.map {
            "\n### \($0.name)\n\n\(table(of: $0.schema))\n"
        }
        return "\n## Kinds\n\(kinds.joined())\n## Parts\n\nWhat the fields above are made of.\n\(parts.joined())\n"
    }

    private static func table(of schema: JSONSchema) -> String {
        guard !schema.members.isEmpty else { return "An object: \(words(schema))." }
        let rows = schema.members.map { member in
            let name = member.isRequired ? "`\(member.name)`" : "[`\(member.name)`]"
            let meaning = member.schema.description.map { "\($0) " } ?? ""
            return "| \(name) | \(words(member.schema)) | \(meaning)|\n"
        }
        return "| field | type | |\n| --- | --- | --- |\n\(rows.joined())".trimmingSuffix("\n")
    }

    private static func words(_ schema: JSONSchema) -> String {
        let text =
            switch schema.form {
            case .any: "anything"
            case .simple(let type, nil, _): type
            case .simple(_, let format?, _): format
            case .words(let words): words.map { "`\($0)`" }.joined(separator: ", ")
            case .list(let element): "list of \(words(element))"
            case .object(let members, nil):
                members.map { "[`\($0.name)`]: \(words($0.schema))" }.joined(separator: ", ")
            case .object(_, let others?): "by name, \(words(others))"
            case .oneOf(let schemas, _): schemas.map(words).joined(separator: " or ")
            case .named(let name, _): "[\(name)](#\(name.lowercased()))"
            }
        return schema.isNullable ? "\(text), or null" : text
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
