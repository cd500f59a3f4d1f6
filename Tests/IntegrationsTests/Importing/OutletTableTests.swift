import CommandLineOptions
import Foundation
import Testing

@testable import Integrations

@Suite struct `Reading outlets` {
    static func map(_ text: String) throws -> ColumnMap {
        var map = ColumnMap()
        try map.add(text)
        return map
    }

    static let allFields = """
        id=ID,name=Restaurant,city=City,area=Area,address=Address,cuisines='Food type',priceForTwo=Price,\
        rating=Ratings,ratingCount='Total ratings',deliveryMinutes='Delivery time'
        """

    static let header =
        "ID,Area,City,Restaurant,Price,Ratings,Total ratings,Food type,Address,Delivery time\n"

    static func table(
        _ text: String, map: String = allFields, currency: String = "INR", unrated: Set<RatingMark> = []
    ) throws -> OutletTable {
        try OutletTable(
            csv: Array(text.utf8), path: "outlets.csv", map: Self.map(map), currency: currency,
            unrated: unrated)
    }

    static func lines(_ problems: [Problem]) -> [String] {
        problems.map { $0.line(in: "outlets.csv") }
    }

    @Test func `A row becomes the document of an outlet`() throws {
        let table = try Self.table(
            Self.header
                + "211, Koramangala ,Bangalore,Café Hut,300,4.4,100,\"Biryani, Chinese,,Biryani\",\"5, Block\",59\r\n")
        #expect(table.problems.isEmpty)
        let row = try #require(table.rows.first)
        #expect(
            row.document(currency: "INR", timeZone: "Asia/Kolkata") == """
                {"name":"Café Hut","currency":"INR","timeZone":"Asia/Kolkata","city":"Bangalore","area":"Koramangala",\
                "address":"5, Block","cuisines":["Biryani","Chinese"],"priceForTwo":30000,"rating":4.4,\
                "ratingCount":100,"deliveryMinutes":59}
                """)
    }

    @Test func `A value that a row does not have is not mentioned`() throws {
        let table = try Self.table(Self.header + "1,NULL,,Hut,NULL,NULL,,NULL, NULL ,\n")
        #expect(table.problems.isEmpty)
        #expect(
            table.rows.first?.document(currency: "INR", timeZone: "UTC")
                == #"{"name":"Hut","currency":"INR","timeZone":"UTC"}"#)
    }

    @Test(arguments: ["", "--", "-", "NEW", "New", "NULL", "Too Few Ratings", "n/a"])
    func `Some texts say that there is no rating yet`(text: String) throws {
        let table = try Self.table(Self.header + "1,,,Hut,,\(text),\(text),,,\n")
        #expect(table.problems.isEmpty)
        #expect(table.rows.first?.rating == nil)
        #expect(table.rows.first?.ratingCount == nil)
    }

    @Test func `Amounts are in the minor units of the currency`() throws {
        for (currency, amount) in [("INR", 30_000), ("JPY", 300), ("KWD", 300_000)] {
            let table = try Self.table(
                "id,name,price,least\n1,Hut,300,300\n", map: "id=id,name=name,priceForTwo=price,minimumOrder=least",
                currency: currency)
            #expect(table.rows.first?.priceForTwo == Int64(amount))
            #expect(table.rows.first?.minimumOrder == Int64(amount))
        }
    }

    @Test func `Equal names are fine, equal ids are not`() throws {
        let table = try Self.table("id,name\n1,Hut\n2,Hut\n1,Other\n", map: "id=id,name=name")
        #expect(table.rows.map(\.id) == ["1", "2"])
        #expect(Self.lines(table.problems) == ["outlets.csv:4: id: '1' is the same as in line 2"])
    }

    @Test func `Every problem of a row is a line, and nothing of the row is used`() throws {
        let table = try Self.table(
            Self.header + "a b,,,,1.234,4.444,x,,,1.5\n" + "1,,,Hut,,,,,\n" + "2,,,\"Hut,,,,,,\n" + "3,,,Hut,,,,,,\n"
        )
        #expect(table.recordCount == 4)
        #expect(table.rows.map(\.id) == ["3"])
        #expect(
            Self.lines(table.problems) == [
                "outlets.csv:2: id: 'a b' is not 1–64 of the characters A–Z a–z 0–9 . _ : - { }",
                "outlets.csv:2: name: is missing",
                "outlets.csv:2: priceForTwo: '1.234' has more than 2 decimals",
                "outlets.csv:2: rating: '4.444' has more than 2 decimals",
                "outlets.csv:2: ratingCount: 'x' is not a number",
                "outlets.csv:2: deliveryMinutes: '1.5' has decimals",
                "outlets.csv:3: row: has 9 fields, the header has 10",
                "outlets.csv:4: row: has a quote that is not closed",
            ])
    }

    @Test func `A column that is not there is an error that names those that are`() {
        #expect(throws: UsageError(#"--map: there is no column "Id"; columns are "ID", "Name""#)) {
            try Self.table("ID, Name \n1,Hut\n", map: "id=Id,name=Name")
        }
        #expect(throws: UsageError(#"--map: there are 2 columns "Name""#)) {
            try Self.table("ID,Name,Name\n", map: "id=ID,name=Name")
        }
    }

    @Test func `A file that does not begin with a header is not CSV`() {
        #expect(throws: UnreadableFile(path: "outlets.csv", line: 1, reason: "the header is not UTF-8")) {
            try OutletTable(
                csv: [0x89, 0x50, 0xFF, 0x0A], path: "outlets.csv", map: ColumnMap(), currency: "INR")
        }
    }

    @Test func `Files without rows are read as such`() throws {
        #expect(try Self.table("").recordCount == 0)
        #expect(try Self.table(Self.header).recordCount == 0)
    }
}

@Suite struct `Placeholder ratings` {
    private static let mark = RatingMark(rating: 290, ratingCount: 80)

    private func rows(_ groups: [(count: Int64, ratings: [Int64])]) -> [OutletRow] {
        groups.flatMap { group in
            group.ratings.map { OutletRow(line: 1, id: "1", name: "Hut", rating: $0, ratingCount: group.count) }
        }
    }

    @Test func `One rating in all of many rows with a number of ratings may be a placeholder`() {
        let found = PlaceholderRating.find(
            in: rows([
                (80, Array(repeating: 290, count: 100)), (50, Array(repeating: 290, count: 99)),
                (20, Array(repeating: 400, count: 500) + [410]),
            ]))
        #expect(found == [PlaceholderRating(mark: Self.mark, rows: 100)])
        #expect(
            found.map(\.description) == [
                "all 100 rows with 80 ratings are rated 2.9: if that means not rated yet, add --unrated 2.9/80"
            ])
    }

    @Test(arguments: [[], [mark]] as [Set<RatingMark>])
    func `A row is the same outlet alone and among others`(unrated: Set<RatingMark>) throws {
        let lines = (1...100).map { "\($0),Hut,2.9,80\n" } + ["101,Hut,4.1,80\n", "102,Hut,2.9,50\n"]
        func rows(_ lines: [String]) throws -> [OutletRow] {
            try `Reading outlets`.table(
                "id,name,r,n\n" + lines.joined(), map: "id=id,name=name,rating=r,ratingCount=n", unrated: unrated
            ).rows.map { row in
                var row = row
                row.line = 0
                return row
            }
        }
        #expect(try rows(lines) == lines.flatMap { try rows([$0]) })
        #expect(try rows(lines).count { $0.rating != nil && $0.ratingCount != nil } == (unrated.isEmpty ? 102 : 2))
        #expect(try rows(Array(lines.prefix(100))) == Array(try rows(lines).prefix(100)))
    }

    @Test(
        arguments: [
            ("2.9/80", mark), (" 2.90 / 80 ", mark), ("0/0", RatingMark(rating: 0, ratingCount: 0)), ("2.9", nil),
            ("2.9/80/1", nil), ("2.999/80", nil), ("/", nil), ("-1/80", nil), ("2.9/8.5", nil),
        ] as [(String, RatingMark?)])
    func `A mark is a rating and a number of ratings`(text: String, mark: RatingMark?) {
        #expect(RatingMark(text) == mark)
    }
}
