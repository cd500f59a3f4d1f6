import Foundation
import Testing

@testable import Integrations

@Suite struct `Reading recipes` {
    static func recipe(_ changes: [String: String?] = [:]) -> String {
        var fields = [
            "cuisine": #""British""#, "name": #""Bakewell Tart""#,
            "photo_url_large": #""https://example.com/large.jpg""#,
            "photo_url_small": #""https://example.com/small.jpg""#,
            "uuid": #""0c6ca6e7-e32a-4053-b824-1dbf749910d8""#, "source_url": #""https://example.com/tart""#,
        ]
        for (field, value) in changes { fields[field] = value }
        return "{" + fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func file(_ recipes: [String]) throws -> RecipeFile {
        let text = #"{"recipes":["# + recipes.joined(separator: ",") + "]}"
        return try RecipeFile(json: Array(text.utf8), path: "recipes.json")
    }

    @Test func `A recipe has an id, a name, a cuisine, two images and where it is from`() throws {
        let file = try Self.file([Self.recipe()])
        #expect(file.problems.isEmpty)
        #expect(
            file.recipes == [
                Recipe(
                    id: "0c6ca6e7-e32a-4053-b824-1dbf749910d8", name: "Bakewell Tart", cuisine: "British",
                    imageSmall: "https://example.com/small.jpg", imageLarge: "https://example.com/large.jpg",
                    source: "https://example.com/tart")
            ])
    }

    @Test(arguments: ["photo_url_large", "photo_url_small", "source_url", "youtube_url"])
    func `Images and links may be missing`(field: String) throws {
        for value in [nil, "null", #"" ""#] {
            let file = try Self.file([Self.recipe([field: value])])
            #expect(file.problems.isEmpty)
            #expect(file.recipes.count == 1)
        }
    }

    static let malformed: [(field: String, value: String?, reason: String)] = [
        ("name", nil, "is missing"), ("name", "null", "is missing"), ("name", #"" ""#, "is empty"),
        ("name", "7", "is not text"), ("cuisine", nil, "is missing"), ("cuisine", "[]", "is not text"),
        ("uuid", nil, "is missing"), ("uuid", #""not-a-uuid""#, "'not-a-uuid' is not a UUID"),
        ("photo_url_small", "true", "is not text"), ("source_url", "7", "is not text"),
        ("source_url", #""javascript:x""#, "'javascript:x' is not an http or https URL"),
        ("youtube_url", #""watch?v=1""#, "'watch?v=1' is not an http or https URL"),
        ("photo_url_small", #""ftp://example.com/a""#, "'ftp://example.com/a' is not an http or https URL"),
        ("photo_url_small", #""example.com/a""#, "'example.com/a' is not an http or https URL"),
        ("photo_url_large", #""https://""#, "'https://' is not an http or https URL"),
        ("photo_url_large", #""https://a b/c""#, "'https://a b/c' is not an http or https URL"),
    ]

    @Test(arguments: malformed)
    func `Nothing of a malformed recipe is used`(field: String, value: String?, reason: String) throws {
        let good = Self.recipe(["uuid": #""599344f4-3c5c-4cca-b914-2210e3b3312f""#])
        let file = try Self.file([good, Self.recipe([field: value])])
        #expect(file.recipes.map(\.id) == ["599344f4-3c5c-4cca-b914-2210e3b3312f"])
        #expect(file.problems.map { $0.line(in: "r.json") } == ["r.json:2: \(field): \(reason)"])
    }

    @Test func `A recipe may have several problems, and must be an object of its own`() throws {
        let file = try Self.file([
            Self.recipe(), "7",
            Self.recipe(["name": nil, "cuisine": nil, "uuid": #""599344f4-3c5c-4cca-b914-2210e3b3312f""#]),
            Self.recipe(["uuid": #""0C6CA6E7-E32A-4053-B824-1DBF749910D8""#]),
        ])
        #expect(file.recipes.count == 1)
        #expect(file.recordCount == 4)
        #expect(
            file.problems.map(\.description) == [
                "2: recipe: is not an object", "3: name: is missing", "3: cuisine: is missing",
                "4: uuid: is the same as in recipe 1",
            ])
    }

    @Test(arguments: [
        ("", 1), ("{\n \"recipes\": [\n  x]}", 3), ("{\"recipes\":[]}\n\nx", 3), ("[]", 1), ("{\"a\":[]}", 1),
        ("{\"recipes\":{}}", 1), ("id,name\n1,Hut\n", 1),
        (String(repeating: "[", count: 1_000_000), 1), ("{\"recipes\":[],\n\"recipes\":[]}", 2),
    ])
    func `A file of another format is an error that names the line`(text: String, line: Int) {
        let error = #expect(throws: UnreadableFile.self) {
            try RecipeFile(json: Array(text.utf8), path: "recipes.json")
        }
        #expect(error?.path == "recipes.json")
        #expect(error?.line == line)
    }
}

@Suite struct `The menu of recipes` {
    private func recipe(_ number: Int, _ cuisine: String) -> Recipe {
        Recipe(id: "id-\(number)", name: "Dish \(number)", cuisine: cuisine, imageSmall: "s", imageLarge: "l")
    }

    @Test func `There is a section for each cuisine, in order of appearance`() {
        let menu = RecipeMenu([
            recipe(1, "Tex Mex"), recipe(2, "British"), recipe(3, "Tex-Mex"), recipe(4, "British"),
            recipe(5, "日本"), recipe(6, "Ελληνικά"),
        ])
        #expect(menu.sections.map(\.id) == ["tex-mex", "british", "tex-mex-2", "cuisine", "cuisine-2"])
        #expect(menu.sections.map(\.title) == ["Tex Mex", "British", "Tex-Mex", "日本", "Ελληνικά"])
        #expect(menu.sections[1].recipes.map(\.id) == ["id-2", "id-4"])
    }

    @Test func `Items have a price, a cuisine, both images and links, and no description`() {
        var linked = recipe(1, "British")
        (linked.imageLarge, linked.source, linked.video) = (nil, "f", "v")
        #expect(
            RecipeMenu([linked, recipe(2, "British")]).document(price: 950) == """
                {"sections":[{"id":"british","title":"British","kind":"menuItems",\
                "layout":{"style":"grid","minimumWidth":160},"items":[\
                {"id":"id-1","kind":"menuItem","name":"Dish 1","price":950,"cuisine":"British",\
                "imageSmall":"s","imageLarge":null,"links":[{"rel":"source","url":"f"},{"rel":"video","url":"v"}]},\
                {"id":"id-2","kind":"menuItem","name":"Dish 2","price":950,"cuisine":"British",\
                "imageSmall":"s","imageLarge":"l","links":[]}]}]}
                """)
    }
}
