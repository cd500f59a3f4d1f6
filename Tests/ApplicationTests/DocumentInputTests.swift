import Testing
import TextFormats

@testable import Application

/// A client is told in words which field of its document is wrong.
@Suite struct DocumentInputTests {
    private static func refusal<Document: InputValue>(of json: String, as type: Document.Type) throws -> String? {
        try withArguments(["X", json]) { arguments in
            try failure { _ = try DocumentInput.decode(type, from: arguments[1]) }
        }
    }

    // MARK: Outlets

    private static func outlet(_ fields: String) -> String {
        #"{"name":"A","currency":"INR","timeZone":"Asia/Kolkata"\#(fields.isEmpty ? "" : ",")\#(fields)}"#
    }

    @Test(arguments: [
        "", #""rating":4.4"#, #""rating":null,"cuisines":[]"#, #""hours":[]"#,
        #""hours":[{"day":"sunday","opens":"18:00","closes":"25:30"}]"#, #""priceForTwo":0,"deliveryMinutes":30"#,
        #""priceForTwo":9223372036854775807,"deliveryMinutes":3.0e1,"ratingCount":-0"#,
    ])
    func `an outlet needs a name, a currency and a time zone`(fields: String) throws {
        #expect(try Self.refusal(of: Self.outlet(fields), as: OutletInput.self) == nil)
    }

    @Test(arguments: [
        ("", "json: must be one JSON document in UTF-8: expected a value at line 1, column 1"),
        ("{", "json: must be one JSON document in UTF-8: expected a key at line 1, column 2"),
        (
            "{\n  \"name\": \"é\\ud800\"}",
            "json: must be one JSON document in UTF-8: expected a pair of surrogates at line 2, column 19"
        ),
        (
            String(repeating: "[", count: 513),
            "json: must be one JSON document in UTF-8: expected at most 64 levels of nesting at line 1, column 66"
        ),
        ("null", "json: must be an object, not null"),
        (
            #"{"name":"A","name":"B"}"#,
            "json: must be one JSON document in UTF-8: expected no key that the object already has at line 1, column 13"
        ),
        ("{\"\(String(repeating: "x", count: 65))\":1}", "json: unknown field"),
        ("[]", "json: must be an object"),
        ("7", "json: must be an object"),
        ("{}", "json: lacks name, currency and timeZone"),
        (#"{"currency":"INR"}"#, "json: lacks name and timeZone"),
        (outlet(#""hours":[{}]"#), "hours[0]: lacks day, opens and closes"),
        (outlet(#""taxes":[{"name":"VAT"}]"#), "taxes[0]: lacks id and rate"),
        (#"{"currency":"INR","timeZone":"UTC"}"#, "name: is missing"),
        (#"{"name":null,"currency":"INR","timeZone":"UTC"}"#, "name: must be a string, not null"),
        (#"{"name":"A","currency":"inr","timeZone":"UTC"}"#, "currency: must be an ISO 4217 code such as INR"),
        (
            #"{"name":"A","currency":"INR","timeZone":"Moon/Sea"}"#,
            "timeZone: must be an IANA time zone such as Asia/Kolkata"
        ),
        (outlet(#""phone":"1""#), "phone: unknown field"),
        (outlet(#""city":7"#), "city: must be a string"),
        (outlet(#""cuisines":"Thai""#), "cuisines: must be an array"),
        (outlet(#""cuisines":["Thai",7]"#), "cuisines[1]: must be a string"),
        (outlet(#""priceForTwo":"500""#), "priceForTwo: must be a whole number"),
        (outlet(#""priceForTwo":12.5"#), "priceForTwo: must be a whole number"),
        (outlet(#""priceForTwo":9223372036854775808"#), "priceForTwo: must be a whole number"),
        (outlet(#""priceForTwo":9223372036854775807.0"#), "priceForTwo: must be a whole number"),
        (outlet(#""priceForTwo":1e999999"#), "priceForTwo: must be a whole number"),
        (outlet(#""rating":-1e999999"#), "rating: must be a number"),
        (outlet(#""n\#u{61}\#u{301}me":1"#), "n\u{61}\u{301}me: unknown field"),
        (outlet(#""rating":"4""#), "rating: must be a number"),
        (outlet(#""rating":5.01"#), "rating: must be from 0 to 5 with at most two decimals"),
        (outlet(#""rating":4.123"#), "rating: must be from 0 to 5 with at most two decimals"),
        (outlet(#""hours":[7]"#), "hours[0]: must be an object"),
        (
            outlet(#""hours":[{"day":"monday","opens":"9","closes":"10:00"}]"#),
            "hours[0].opens: must be a time such as 09:00"
        ),
        (
            outlet(#""hours":[{"day":"Monday","opens":"09:00","closes":"10:00"}]"#),
            "hours[0].day: must be one of monday to sunday"
        ),
        (
            outlet(#""hours":[{"day":"monday","opens":"09:00","closes":"08:00"}]"#),
            "hours[0].closes: must come after opens, within a day; past midnight it goes on, 25:30"
        ),
        (outlet(#""hours":[{"day":"monday","opens":"09:00"}]"#), "hours[0].closes: is missing"),
    ])
    func `a bad outlet is refused with the name of its field`(json: String, reason: String) throws {
        #expect(try Self.refusal(of: json, as: OutletInput.self) == "INVALID \(reason)")
    }

    // MARK: Menus

    /// A menu of two items, of which the second is given.
    private static func menu(item: String) -> String {
        menu(
            section:
                #"{"id":"s","title":"S","kind":"menuItems","items":[{"id":"a","kind":"promo","name":"A"},\#(item)]}"#)
    }

    private static func menu(section: String) -> String { #"{"sections":[\#(section)]}"# }

    @Test(arguments: [
        #"{"sections":[]}"#, #"{"outlet":"o","version":4,"sections":[]}"#,
        menu(section: #"{"id":"s","title":"S","kind":"x"}"#),
        menu(
            item:
                #"{"id":"b","kind":"dessert","name":"B","price":1,"options":[],"available":true,"availableFrom":null}"#),
        menu(
            item:
                #"{"id":"b","kind":"promo","name":"B","attributes":{"a":-4.250e1,"b":"x","c":true,"d":["x"],"e":null}}"#
        ),
        menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":null}"#),
    ])
    func `a menu is accepted as MENU.GET gives it`(json: String) throws {
        #expect(try Self.refusal(of: json, as: MenuInput.self) == nil)
    }

    @Test func `Every element that is refused is named, up to twenty`() throws {
        func menu(_ count: Int) -> String {
            let items = (0..<count).map { index in
                let price = index == 1 ? "1" : #""x""#
                return #"{"id":"i\#(index)","kind":"menuItem","name":"A","price":\#(price)}"#
            }
            return Self.menu(
                section: #"{"id":"s","title":"S","kind":"menuItems","items":[\#(items.joined(separator: ","))]}"#)
        }
        func problem(_ index: Int) -> String { "sections[0].items[\(index)].price: must be a whole number" }
        func refusal(_ count: Int) throws -> String? { try Self.refusal(of: menu(count), as: MenuInput.self) }
        #expect(try refusal(3) == "INVALID " + [problem(0), problem(2)].joined(separator: "; "))
        let twenty = ([0] + Array(2...20)).map(problem)
        #expect(try refusal(21) == "INVALID " + twenty.joined(separator: "; "))
        #expect(try refusal(50) == "INVALID " + (twenty.dropLast() + ["and 30 more"]).joined(separator: "; "))
    }

    @Test(arguments: [
        ("{}", "sections: is missing"),
        (#"{"sections":{}}"#, "sections: must be an array"),
        (#"{"sections":[],"theme":"dark"}"#, "theme: unknown field"),
        (menu(section: "7"), "sections[0]: must be an object"),
        (menu(section: #"{"title":"S","kind":"menuItems"}"#), "sections[0].id: is missing"),
        (
            menu(section: #"{"id":"a b","title":"S","kind":"menuItems"}"#),
            "sections[0].id: must be 1–64 bytes of A–Z a–z 0–9 . _ : - { }"
        ),
        (menu(section: #"{"id":"s","kind":"menuItems"}"#), "sections[0].title: is missing"),
        (
            menu(section: #"{"id":"s","title":"S","kind":"menuItems","sticky":"yes"}"#),
            "sections[0].sticky: must be true or false"
        ),
        (
            menu(section: #"{"id":"s","title":"S","kind":"promotions","layout":{"width":1,"height":1}}"#),
            "sections[0].layout.style: is missing"
        ),
        (
            menu(section: #"{"id":"s","title":"S","kind":"promotions","layout":{"style":"horizontalCard","width":1}}"#),
            "sections[0].layout.height: is missing"
        ),
        (
            menu(
                section:
                    #"{"id":"s","title":"S","kind":"promotions","layout":{"style":"horizontalCard","width":0,"height":1}}"#
            ),
            "sections[0].layout: width and height must be from 1 to 10000 points"
        ),
        (menu(item: "null"), "sections[0].items[1]: must be an object, not null"),
        (menu(item: #"{"kind":"menuItem","name":"B","price":1}"#), "sections[0].items[1].id: is missing"),
        (menu(item: #"{"id":"b","kind":"menuItem","price":1}"#), "sections[0].items[1].name: is missing"),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","price":"1"}"#),
            "sections[0].items[1].price: must be a whole number"
        ),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","price":12.5}"#),
            "sections[0].items[1].price: must be a whole number"
        ),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","price":99999999999999999999}"#),
            "sections[0].items[1].price: must be a whole number"
        ),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","Price":1}"#),
            "sections[0].items[1].Price: unknown field"
        ),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","price":1,"tags":["hot",null]}"#),
            "sections[0].items[1].tags[1]: must be a string, not null"
        ),
        (
            menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":[]}"#),
            "sections[0].items[1].attributes: must be an object"
        ),
        (
            menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":{"shoe size":1}}"#),
            "sections[0].items[1].attributes: a name must have 1–64 bytes of A–Z a–z 0–9 . _ : - { }"
        ),
        (
            menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":{"shoeSize":42.0000001}}"#),
            "sections[0].items[1].attributes.shoeSize: must be a number from -1000000000000 to 1000000000000, "
                + "with at most 6 decimals and 15 digits"
        ),
        (
            menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":{"size":{"eu":42}}}"#),
            "sections[0].items[1].attributes.size: must be a number, a string, true or false, or an array of strings"
        ),
        (
            menu(item: #"{"id":"b","kind":"promo","name":"B","attributes":{"size":["S",42]}}"#),
            "sections[0].items[1].attributes.size[1]: must be a string"
        ),
        (
            menu(item: #"{"id":"b","kind":"menuItem","name":"B","price":1,"options":[{"id":"large"}]}"#),
            "sections[0].items[1].options[0]: must be a string"
        ),
        (
            #"{"sections":[],"groups":[{"id":"g","title":"G","options":[{"id":"a","name":"A","prices":{"x y":1}}]}]}"#,
            "groups[0].options[0].prices: must have ids of options as names"
        ),
        (
            #"{"sections":[],"groups":[{"id":"g","title":"G","options":[{"id":"a","name":"A","prices":{"x":true}}]}]}"#,
            "groups[0].options[0].prices.x: must be a whole number"
        ),
    ])
    func `a bad menu is refused with the name of its field`(json: String, reason: String) throws {
        #expect(try Self.refusal(of: json, as: MenuInput.self) == "INVALID \(reason)")
    }
}
