import CommandLineOptions
import Foundation
import Testing

@testable import Importing

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
        _ text: String, map: String = allFields, currency: String = "INR", keepsRatings: Bool = false
    ) throws -> OutletTable {
        try OutletTable(
            csv: Array(text.utf8), path: "outlets.csv", map: Self.map(map), currency: currency,
            keepsRatings: keepsRatings)
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
                {"name":"Café Hut","city":"Bangalore","area":"Koramangala","address":"5, Block","currency":"INR",\
                "timeZone":"Asia/Kolkata","cuisines":["Biryani","Chinese"],"priceForTwo":30000,"rating":4.4,\
                "ratingCount":100,"deliveryMinutes":59}
                """)
    }

    @Test func `A value that a row does not have is not mentioned`() throws {
        let table = try Self.table(Self.header + "1,NULL,,Hut,NULL,NULL,,NULL, NULL ,\n")
        #expect(table.problems.isEmpty)
        #expect(
            table.rows.first?.document(currency: "INR", timeZone: "UTC")
                == #"{"name":"Hut","currency":"INR","timeZone":"UTC","cuisines":[]}"#)
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
                "outlets.csv:2: id: 'a b' is not 1–64 of the characters A–Z a–z 0–9 . _ : -",
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
                csv: [0x89, 0x50, 0xFF, 0x0A], path: "outlets.csv", map: ColumnMap(), currency: "INR",
                keepsRatings: false)
        }
    }

    @Test func `Files without rows are read as such`() throws {
        #expect(try Self.table("").recordCount == 0)
        #expect(try Self.table(Self.header).recordCount == 0)
    }
}

@Suite struct `Placeholder ratings` {
    private func rows(_ groups: [(count: Int64, ratings: [Int64])]) -> [OutletRow] {
        groups.flatMap { group in
            group.ratings.map { OutletRow(line: 1, id: "1", name: "Hut", rating: $0, ratingCount: group.count) }
        }
    }

    @Test func `One rating in all of many rows with a number of ratings is a placeholder`() {
        let found = PlaceholderRating.find(
            in: rows([
                (80, Array(repeating: 290, count: 100)), (50, Array(repeating: 290, count: 99)),
                (20, Array(repeating: 400, count: 500) + [410]),
            ]))
        #expect(found == [PlaceholderRating(ratingCount: 80, rating: 290, rows: 100)])
        #expect(
            found.map(\.description) == [
                "all 100 rows with 80 ratings are rated 2.9: taken as not rated yet "
                    + "(--keep-ratings takes them as they are)"
            ])
    }

    @Test(arguments: [false, true]) func `Placeholders are left out unless they are to be kept`(keeps: Bool) throws {
        let text = "id,name,r,n\n" + (1...100).map { "\($0),Hut,2.9,80\n" }.joined() + "101,Hut,4.1,50\n"
        let table = try `Reading outlets`.table(
            text, map: "id=id,name=name,rating=r,ratingCount=n", keepsRatings: keeps)
        #expect(table.placeholders.count == (keeps ? 0 : 1))
        #expect(table.rows.count { $0.rating != nil && $0.ratingCount != nil } == (keeps ? 101 : 1))
        #expect(table.rows.last?.rating == 410)
    }
}
