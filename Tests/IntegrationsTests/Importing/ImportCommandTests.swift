import EventLoop
import Foundation
import LineProtocol
import Testing

@testable import Integrations

/// From the command line over a socket and back.
@Suite struct `The import command` {
    init() { LoopActor.startInBackground() }

    private let map = ["--map", "id=id,name=name", "--currency", "INR", "--time-zone", "UTC"]

    /// Runs the command on a file against a server of its own, which `body` may query afterwards.
    @LoopActor private func run(
        _ kind: ImportKind, _ contents: String, _ options: [String], on server: FakeServer,
        isTerminal: Bool = false
    ) async throws -> Run {
        try await withFile("file", contents) { path in
            var run = await Run(
                [kind.rawValue, path] + options, environment: ["TIFFIN_SERVER": server.address.description],
                isTerminal: isTerminal)
            run.errors = run.errors.replacing(path, with: "file")
            return run
        }
    }

    private func outlets(_ count: Int) -> String {
        "id,name\n" + (0..<count).map { "o-\($0),Outlet \($0)\n" }.joined()
    }

    @Test @LoopActor func `Outlets are loaded, and a second run changes nothing and says so`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let first = try await run(.outlets, outlets(2_500), map, on: server)
        #expect(first.code == .fine)
        #expect(
            first.summary == "2,500 outlets: 2,500 created, 0 changed, 0 unchanged; 2,500 opened")
        #expect(first.errors == "1,000 of 2,500\n2,000 of 2,500\n")
        #expect(server.catalogue.outlets.values.count { $0.status == "open" } == 2_500)
        let second = try await run(.outlets, outlets(2_500), map, on: server)
        #expect(second.code == .fine)
        #expect(second.summary == "2,500 outlets: nothing changed")
    }

    @Test @LoopActor func `On a terminal there is a bar, and it is gone at the end`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let run = try await run(.outlets, outlets(500), map, on: server, isTerminal: true)
        #expect(run.errors.contains("] 250 of 500"))
        #expect(!run.errors.contains("\n"))
        #expect(run.errors.hasSuffix("[##############################] 500 of 500\r\u{1B}[K"))
    }

    @Test @LoopActor func `Malformed rows are reported and left out, and the exit code says so`() async throws {
        let server = try FakeServer {
            $0.catalogue.refusals["OUTLET.PUT o-1"] = .error(code: "INVALID", message: "name is odd")
        }
        defer { server.stop() }
        let run = try await run(.outlets, outlets(3) + "a b,Hut\n", map, on: server)
        #expect(run.code == .malformed)
        #expect(
            run.errors == """
                file:5: id: 'a b' is not 1–64 of the characters A–Z a–z 0–9 . _ : - { }
                file:3: OUTLET.PUT: INVALID name is odd

                """)
        #expect(
            run.summary == "2 outlets: 2 created, 0 changed, 0 unchanged; 2 opened; 2 rows not taken")
    }

    @Test @LoopActor func `Strict means all or nothing`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let run = try await run(.outlets, outlets(3) + "a b,Hut\n", map + ["--strict"], on: server)
        #expect(run.code == .malformed)
        #expect(run.output == "")
        #expect(run.errors.hasSuffix("\nfile: nothing taken of 4 rows\n"))
        #expect(server.catalogue.commands.isEmpty)
        let good = try await self.run(.outlets, outlets(3), map + ["--strict"], on: server)
        #expect(good.code == .fine)
    }

    @Test @LoopActor func `No more problems are shown than anybody would read`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let rows = String(repeating: "a b,Hut\n", count: 1_234)
        let run = try await run(.outlets, outlets(1) + rows, map, on: server)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 101)
        #expect(lines.last == "and 1,134 more")
    }

    @Test(arguments: [
        ("", "file: has no rows\n"), ("id,name\r\n", "file: has no rows\n"),
    ])
    @LoopActor func `A file without rows is empty, not wrong`(contents: String, errors: String) async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let run = try await run(.outlets, contents, map, on: server)
        #expect(run.code == .empty)
        #expect(run.errors == errors)
    }

    @Test @LoopActor func `Unknown columns are wrong options, and nothing is sent`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let run = try await run(.outlets, "ID,Name\n1,Hut\n", map, on: server)
        #expect(run.code == .usage)
        #expect(
            run.errors
                == #"tiffin import: --map: there is no column "id"; columns are "ID", "Name";"#
                + " see 'tiffin import --help'\n")
        #expect(server.catalogue.commands.isEmpty)
    }

    @Test @LoopActor func `Missing files, and paths that are not files, are unreadable`() async throws {
        for path in ["/nonexistent/file.csv", FileManager.default.temporaryDirectory.path] {
            let run = await Run(["outlets", path] + map)
            #expect(run.code == .unreadable)
            #expect(run.errors.hasPrefix("tiffin import: \(path): "))
        }
        let server = try FakeServer()
        defer { server.stop() }
        let run = try await run(.menu, "{\n\"sections\":[}", ["--outlet", "o"], on: server)
        #expect(run.code == .unreadable)
        #expect(run.errors.hasPrefix("tiffin import: file:2:13: is not JSON: expected a value\n"))
    }

    @Test @LoopActor func `A byte order mark is not part of the first column`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        #expect(try await run(.outlets, "\u{FEFF}id,name\r\n1,Hut\r\n", map, on: server).code == .fine)
    }

    @Test @LoopActor func `A server that does not answer is named`() async throws {
        let server = try FakeServer()
        server.stop()
        let run = try await run(.outlets, outlets(1), map, on: server)
        #expect(run.code == .disconnected)
        #expect(run.errors.hasPrefix("tiffin import: cannot connect to \(server.address): "))
    }

    @Test @LoopActor func `A lost connection is reported with how far the import came, and the import can be resumed`()
        async throws
    {
        let server = try FakeServer { $0.patience = 1_000 }
        defer { server.stop() }
        let lost = try await run(.outlets, outlets(2_000), map, on: server)
        #expect(lost.code == .disconnected)
        #expect(lost.output == "")
        #expect(lost.errors.contains(" of 2,000 done; import again for the rest\n"))
        #expect(lost.errors.contains("tiffin import: lost the connection to \(server.address): "))
        server.patience = nil
        #expect(try await run(.outlets, outlets(2_000), map, on: server).code == .fine)
        #expect(server.catalogue.outlets.values.count { $0.status == "open" } == 2_000)
    }

    @Test @LoopActor func `A server that does not speak the protocol is not one of ours`() async throws {
        let server = try FakeServer { $0.greeting = "220 mail ready\r\n" }
        defer { server.stop() }
        let run = try await run(.outlets, outlets(1), map, on: server)
        #expect(run.code == .disconnected)
        #expect(run.errors.contains("what answers does not speak RESP"))
    }

    @Test @LoopActor func `Recipes become a menu, once`() async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let options = ["--outlet", "kitchen", "--currency", "USD", "--price", "950"]
        let recipes = #"{"recipes":["# + `Reading recipes`.recipe() + "]}"
        let first = try await run(.recipes, recipes, options, on: server)
        #expect(first.code == .fine)
        #expect(
            first.summary
                == "1 recipe in 1 section: outlet created; outlet opened; menu changed, version 1")
        let second = try await run(.recipes, recipes, options, on: server)
        #expect(second.summary == "1 recipe in 1 section: nothing changed")

        let malformed = #"{"recipes":[{},"# + `Reading recipes`.recipe() + "]}"
        let refused = try await run(.recipes, malformed, options, on: server)
        #expect((refused.code, refused.output) == (.malformed, ""))
        #expect(refused.errors.hasSuffix("\nfile: nothing taken of 2 recipes\n"))
        #expect(server.catalogue.menus["kitchen"]?.version == 1)
        let recorded = try #require(server.catalogue.feeds["kitchen"])
        #expect(recorded.hasPrefix(#"{"state":"malformed","source":"file","problems":["1: uuid: is missing","#))

        let partial = try await run(.recipes, malformed, options + ["--partial"], on: server)
        #expect((partial.code, partial.summary) == (.malformed, "1 recipe in 1 section: nothing changed"))
        #expect(server.catalogue.feeds["kitchen"]?.hasPrefix(#"{"state":"ready""#) == true)
        let nothing = try await run(.recipes, #"{"recipes":[{}]}"#, options + ["--partial"], on: server)
        #expect((nothing.code, server.catalogue.menus["kitchen"]?.version) == (.malformed, 1))

        let empty = try await run(.recipes, #"{"recipes":[]}"#, options, on: server)
        #expect((empty.code, empty.errors) == (.empty, "file: has no recipes\n"))
        #expect(server.catalogue.menus["kitchen"]?.version == 1)
        #expect(server.catalogue.feeds["kitchen"]?.hasPrefix(#"{"state":"empty""#) == true)
        let emptied = try await run(.recipes, #"{"recipes":[]}"#, options + ["--allow-empty"], on: server)
        #expect((emptied.code, emptied.summary) == (.fine, "0 recipes in 0 sections: menu changed, version 2"))
        #expect(server.catalogue.feeds["kitchen"]?.hasPrefix(#"{"state":"empty""#) == true)
    }

    @Test @LoopActor func `A menu is sent as it is, and the server's answer is passed on`() async throws {
        let server = try FakeServer {
            _ = $0.catalogue.answer(["OUTLET.PUT", "o", "{}"])
        }
        defer { server.stop() }
        let menu = "{\"sections\": [ {\"id\":\"s\", \"items\":[{}]} ] }\n"
        let first = try await run(.menu, menu, ["--outlet", "o"], on: server)
        #expect(first.code == .fine)
        #expect(first.summary == "1 section: menu changed, version 1")
        #expect(server.catalogue.menus["o"]?.document == menu)
        let refused = try await run(.menu, menu, ["--outlet", "other"], on: server)
        #expect(refused.code == .malformed)
        #expect(refused.errors == "file: MENU.PUT: NOTFOUND no such outlet\n")
        for empty in [#"{"sections":[]}"#, #"{"sections":[{"id":"s"},{"id":"t","items":[]}]}"#] {
            #expect(try await run(.menu, empty, ["--outlet", "o"], on: server).code == .empty)
            #expect(server.catalogue.menus["o"]?.document == menu)
        }
        let long = "{\"sections\":[\"" + String(repeating: "a", count: 32 << 20) + "\"]}"
        #expect(try await run(.menu, long, ["--outlet", "o"], on: server).code == .unreadable)
    }

    @Test @LoopActor func `Commands and replies larger than the buffers of the sockets do not block each other`()
        async throws
    {
        let server = try FakeServer()
        defer { server.stop() }
        let name = String(repeating: "x", count: 60_000)
        let rows = "id,name\n" + (0..<300).map { "o-\($0),\(name)\n" }.joined()
        #expect(try await run(.outlets, rows, map, on: server).code == .fine)
    }

    @Test @LoopActor func `The help goes to the output`() async throws {
        let run = await Run(["outlets", "--help"])
        #expect(run.code == .fine)
        #expect(run.output.hasPrefix("usage: tiffin import outlets <file> --map "))
        #expect(run.errors == "")
    }
}
