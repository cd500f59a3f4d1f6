import CommandLineOptions
import EventLoop
import Foundation
import LineProtocol
import Testing

@testable import Integrations

/// Tests on real files that nobody made up for them. They are not part of the project; without the files, the tests
/// are skipped.
@Suite struct `Real files` {
    init() { LoopActor.startInBackground() }

    @Test(.enabled(if: SharedData.exists("swiggy-outlets.csv")))
    func `All outlets of a delivery service are read, and only what is named as no rating is none`() throws {
        let table = try OutletTable(
            csv: NamedFile.contents(of: SharedData.path("swiggy-outlets.csv"), atMost: 1 << 30),
            path: "swiggy-outlets.csv",
            map: `Reading outlets`.map(`Reading outlets`.allFields), currency: "INR",
            unrated: [RatingMark(rating: 290, ratingCount: 80)])
        #expect(table.recordCount == 8_680)
        #expect(table.rows.count == 8_680)
        #expect(table.problems.isEmpty)
        #expect(table.placeholders.isEmpty)
        #expect(table.rows.count { $0.rating != nil } == 8_680 - 3_273)
        #expect(table.rows.allSatisfy { ($0.rating == nil) == ($0.ratingCount == nil) })
        #expect(Set(table.rows.compactMap(\.city)).count == 9)
        #expect(Set(table.rows.map(\.name)).count < 8_680)
    }

    @Test(
        .enabled(if: SharedData.exists("recipes.json")),
        arguments: [
            (
                "recipes.json", ImportExitCode.fine,
                "6 recipes in 3 sections: outlet created; outlet opened; menu changed, version 1", 0
            ),
            (
                "recipes-malformed.json", .malformed,
                "", 4
            ),
            ("recipes-empty.json", .empty, "", 1),
        ])
    @LoopActor func `Recipes end fine, malformed or empty`(
        name: String, code: ImportExitCode, summary: String, errorLines: Int
    ) async throws {
        let server = try FakeServer()
        defer { server.stop() }
        let run = await Run([
            "recipes", SharedData.path(name), "--outlet", "test-kitchen", "--currency", "USD", "--price", "950",
            "--server", server.address.description,
        ])
        #expect(run.code == code)
        #expect(run.summary == summary)
        #expect(run.errors.split(separator: "\n").count == errorLines)
    }

    @Test(.enabled(if: SharedData.exists("recipes-malformed.json")))
    func `The malformed recipes are named by row and field`() throws {
        let file = try RecipeFile(
            json: NamedFile.contents(of: SharedData.path("recipes-malformed.json"), atMost: 1 << 30), path: "r.json")
        #expect(
            file.problems.map { $0.line(in: "r.json") } == [
                "r.json:2: name: is missing", "r.json:4: cuisine: is missing",
                "r.json:5: uuid: 'not-a-uuid' is not a UUID",
            ])
    }
}
