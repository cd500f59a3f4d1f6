import CommandLineOptions
import LineProtocol
import Testing

@testable import Integrations

@Suite struct `The options of an import` {
    private func options(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> ImportOptions {
        guard case .run(let options) = try ImportOptions.parse(arguments, environment: environment) else {
            throw UsageError("it is the help")
        }
        return options
    }

    private let outlets = ["outlets", "f.csv", "--map", "id=ID,name=N", "--currency", "INR", "--time-zone", "UTC"]

    @Test func `Options may be anywhere, with their values after them or after an equals sign`() throws {
        let options = try options([
            "outlets", "--strict", "--map=id=ID", "--currency=INR", "f.csv", "--map", "name='Food, type'",
            "--time-zone", "Asia/Kolkata", "--open", "--server", "[::1]:99",
        ])
        var map = ColumnMap()
        try map.add("id=ID,name='Food, type'")
        #expect(
            options.source
                == .outlets(
                    OutletImportOptions(
                        map: map, currency: "INR", timeZone: "Asia/Kolkata", opensAll: true,
                        isStrict: true)))
        #expect(options.input == ImportInput("f.csv"))
        #expect(options.seconds == 30)
        #expect(options.maximumLength == 256 << 20)
        #expect(options.server == ServerAddress(host: "::1", port: 99))
    }

    @Test func `What means no rating is named for rows that have ratings`() throws {
        let rated = outlets.map { $0.replacing("id=ID,name=N", with: "id=ID,name=N,rating=R,ratingCount=C") }
        guard case .outlets(let source) = try options(rated + ["--unrated", "2.9/80", "--unrated=3/0"]).source else {
            Issue.record("it imports outlets")
            return
        }
        #expect(
            source.unrated == [RatingMark(rating: 290, ratingCount: 80), RatingMark(rating: 300, ratingCount: 0)])
        #expect(
            throws: UsageError("--unrated: '2.9' is not a rating and a number of ratings, such as 2.9/80")
        ) { try options(rated + ["--unrated", "2.9"]) }
        #expect(throws: UsageError("--unrated: 'rating' and 'ratingCount' are not both mapped to columns")) {
            try options(outlets + ["--unrated", "2.9/80"])
        }
    }

    @Test func `Recipes go to an outlet named by its id unless told otherwise`() throws {
        let arguments = ["recipes", "r.json", "--outlet", "kitchen", "--currency", "USD", "--price", "950"]
        let recipes = RecipeImportOptions(
            outlet: "kitchen", currency: "USD", timeZone: "UTC", price: 950, name: "kitchen")
        #expect(try options(arguments).source == .recipes(recipes))
        var named = recipes
        named.name = "Test Kitchen"
        #expect(try options(arguments + ["--name", "Test Kitchen"]).source == .recipes(named))
        named.isPartial = true
        named.allowsEmpty = true
        let all = try options(arguments + ["--name=Test Kitchen", "--partial", "--allow-empty", "--timeout=5"])
        #expect(all.source == .recipes(named))
        #expect(all.seconds == 5)
    }

    @Test func `The server is given by an option, else by a variable, else it is the default`() throws {
        let variable = ["TIFFIN_SERVER": "db:1"]
        #expect(try options(outlets).server == .standard)
        #expect(try options(outlets, environment: variable).server == ServerAddress(host: "db", port: 1))
        #expect(
            try options(outlets + ["--server", ":2"], environment: variable).server
                == ServerAddress(host: "127.0.0.1", port: 2))
    }

    @Test(arguments: [
        ([], "what is to be imported? kinds are outlets, recipes, menu"),
        (["carts"], "there is no import of 'carts'; kinds are outlets, recipes, menu"),
        (["menu", "--outlet", "o"], "which file is to be imported?"),
        (["menu", "a", "b", "--outlet", "o"], "unexpected argument 'b'"),
        (["menu", "a"], "--outlet is needed"),
        (["menu", "a", "--outlet"], "--outlet needs a value"),
        (["menu", "a", "--outlet", "a b"], "--outlet: 'a b' is not 1–64 of the characters A–Z a–z 0–9 . _ : - { }"),
        (["menu", "a", "--outlet", "o", "--outlet", "p"], "--outlet is given twice"),
        (["menu", "a", "--price", "1"], "unknown option '--price'"),
        (["menu", "a", "-x"], "unknown option '-x'"),
        (["menu", "a", "--outlet", "o", "--server", "here"], "--server: 'here' is not host:port"),
        (["menu", "a", "--outlet", "o", "--server", "here:0"], "--server: 'here:0' is not host:port"),
        (["menu", "a", "--outlet", "o", "--server", "a:b:1"], "--server: 'a:b:1' is not host:port"),
        (["outlets", "a", "--strict=yes"], "--strict takes no value"),
        (["recipes", "a", "--strict"], "unknown option '--strict'"),
        (["menu", "a", "--partial"], "unknown option '--partial'"),
        (["menu", "a", "--outlet", "o", "--timeout", "0"], "--timeout: '0' is not a whole number from 1 to 3600"),
        (
            ["recipes", "a", "--outlet", "o", "--currency", "usd", "--price", "1"],
            "--currency: 'usd' is not three capital letters of ISO 4217"
        ),
        (
            ["recipes", "a", "--outlet", "o", "--currency", "USD", "--price", "9.50"],
            "--price: '9.50' is not a whole number of minor units"
        ),
        (
            ["recipes", "a", "--outlet", "o", "--currency", "USD", "--price", "1", "--time-zone", "Mars"],
            "--time-zone: 'Mars' is not an IANA time zone"
        ),
    ])
    func `Wrong options are named`(arguments: [String], message: String) {
        #expect(throws: UsageError(message)) { try ImportOptions.parse(arguments) }
    }

    @Test(arguments: [
        ("id", "--map: 'id' is not field=column"),
        (
            "colour=C",
            "--map: there is no field 'colour'; fields are id, name, city, area, address, cuisines, "
                + "priceForTwo, minimumOrder, rating, ratingCount, deliveryMinutes"
        ),
        ("id=", "--map: no column is named for 'id'"),
        ("id=A,id=B", "--map: 'id' is mapped twice"),
        ("id='A", "--map: a quote is not closed"),
        ("id='A'B", "--map: a comma is missing behind 'A'"),
        ("id=A", "--map: 'name' is not mapped to a column"),
    ])
    func `Wrong maps are named`(text: String, message: String) {
        #expect(throws: UsageError(message)) {
            var map = ColumnMap()
            try map.add(text)
            try map.validate()
        }
    }

    @Test(arguments: [
        (["--help"], nil), (["outlets", "-h"], ImportKind.outlets), (["menu", "x", "--bad", "--help"], .menu),
    ])
    func `A request for help may be anywhere`(arguments: [String], kind: ImportKind?) throws {
        #expect(try ImportOptions.parse(arguments) == .help(kind))
    }

    @Test func `The help names every kind, option and exit code`() {
        let overview = ImportHelp.text(for: nil)
        for kind in ImportKind.allCases {
            #expect(overview.contains(kind.rawValue))
            let details = ImportHelp.text(for: kind)
            for option in kind.syntax.options { #expect(details.contains("--\(option.declaration.name)")) }
        }
        for code in ImportExitCode.allCases { #expect(overview.contains("\(code.rawValue)  ")) }
        for text in ImportKind.allCases.map({ ImportHelp.text(for: $0) }) + [overview] {
            for line in text.split(separator: "\n") { #expect(line.count <= 110) }
        }
    }
}
