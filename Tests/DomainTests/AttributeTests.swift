import Foundation
import SeededRandom
import Testing

@testable import Domain

@Suite struct AttributeTests {
    private typealias Specification = DeciderSpecification<Menu>

    private static let lunch: [Menu.Event] = [.sectionAdded(.sample("lunch"), before: nil)]

    // MARK: Numbers

    @Test(arguments: SeededGenerator.seeds)
    func `a number is the same however it is written, and ordered as what it means`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var last: (AttributeNumber, Decimal)?
        for _ in 0..<200 {
            let digits = String((0..<random.number(1...9)).map { _ in Character(String(random.number(0...9))) })
            let decimals = random.number(0...min(6, digits.count))
            let sign = random.pick(["", "-"])
            let meaning = try #require(Decimal(string: "\(sign)\(digits)e-\(decimals)"))
            let number = try #require(AttributeNumber("\(sign)\(digits)e-\(decimals)"))
            let zeros = String(repeating: "0", count: random.number(0...40))
            #expect(AttributeNumber("\(sign)\(digits)\(zeros)E-\(decimals + zeros.count)") == number)
            #expect(AttributeNumber("\(sign)0.\(zeros)\(digits)e+\(zeros.count + digits.count - decimals)") == number)
            #expect(Decimal(string: number.description) == meaning)
            #expect(AttributeNumber(number.description) == number)
            // Floating point writes back what it reads.
            let double = try #require(Double(number.description))
            #expect(AttributeNumber("\(double)") == number)
            if let (other, meant) = last {
                #expect((number < other) == (meaning < meant))
                #expect((number == other) == (meaning == meant))
            }
            last = (number, meaning)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the greatest number up to a limit can be written, and none is between`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let bound = (0..<random.number(0...18)).reduce(Int64(1)) { bound, _ in bound * 10 }
            let limit = Int64.random(in: -bound...bound, using: &random)
            let greatest = AttributeNumber(greatestUpTo: limit)
            #expect(AttributeNumber(greatest.description) == greatest)
            #expect(greatest.millionths <= limit)
            // Those with one unit more in the last place that there may be.
            let unit = (0..<max(0, String(limit.magnitude).utf8.count - 15)).reduce(Int64(1)) { unit, _ in unit * 10 }
            #expect(greatest.millionths > limit - unit)
        }
        #expect(AttributeNumber(greatestUpTo: .max).description == "1000000000000")
        #expect(AttributeNumber(greatestUpTo: .min).description == "-1000000000000")
    }

    @Test(
        arguments: [
            ("0", "0"), ("-0", "0"), ("-0.0e9", "0"), ("0e99999999999999999999", "0"), ("42.50", "42.5"),
            ("1e12", "1000000000000"),
            ("-1000000000000.000000", "-1000000000000"), ("1e13", nil), ("0.000001", "0.000001"), ("1e-6", "0.000001"),
            ("0.0000001", nil), ("0.0000010", "0.000001"), ("1000000000000.1", nil),
            ("123456789.123456", "123456789.123456"), ("1234567890.123456", nil), ("1e999999999999999999999", nil),
            ("-7.25", "-7.25"), ("-0.5", "-0.5"), ("100", "100"), ("1x", nil), ("1:", nil), ("1/", nil), ("1e:", nil),
        ] as [(String, String?)])
    func `a number within the rule has one spelling`(json: String, spelling: String?) {
        #expect(AttributeNumber(json)?.description == spelling)
    }

    // MARK: Entries

    @Test(arguments: SeededGenerator.seeds)
    func `an entry gives its item back, and knows its bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var item = MenuItem.sample("tea")
            item.tags = random.pick([[], ["hot"], ["hot", "é"]])
            item.attributes = random.attributes()
            item.options = random.pick([[], [], ["size"], ["size", "extras"]])
            item.tax = random.pick([nil, nil, "vat"])
            let suspension = random.pick([nil, MenuState.Suspension(until: nil), MenuState.Suspension(until: 7)])
            let entry = MenuState.Entry(item: item, section: "lunch", suspension: suspension)
            #expect(entry.item == item)
            #expect(entry.bytes == item.bytes)
            #expect(entry.options == item.options && entry.tax == item.tax && entry.section == "lunch")
            #expect(entry.suspension == suspension && entry.ownSuspension == suspension)
        }
    }

    // MARK: Rules

    @Test func `attributes are the same in any order, and a change of one is a change of the item`() {
        let item = MenuItem.sample("tea").with(
            \.attributes, ItemAttributes([.init("vegan", .boolean(true)), .init("size", .number(42))]))
        let same = item.with(
            \.attributes, ItemAttributes([.init("size", .number(42)), .init("vegan", .boolean(true))]))
        let other = item.with(
            \.attributes, ItemAttributes([.init("size", .text("42")), .init("vegan", .boolean(true))]))
        let given = Specification.given(Self.lunch + [.itemAdded(item, section: "lunch", before: nil)])
        given.when(.putItem(same, section: "lunch", before: nil)).then([])
        given.when(.putItem(other, section: "lunch", before: nil)).then([.itemChanged(other)])
    }

    private static func named(_ names: Range<Int>) -> ItemAttributes {
        ItemAttributes(names.map { .init(Identifier("a\($0)")!, .number(1)) })
    }

    @Test(arguments: [
        named(0..<50), ItemAttributes([.init("a", .texts(Array(repeating: "x", count: 50)))]),
        ItemAttributes([.init("a", .texts([])), .init("b", .text(Text(String(repeating: "x", count: 300))))]),
    ])
    func `attributes at a bound are accepted`(_ attributes: ItemAttributes) {
        let item = MenuItem.sample("tea").with(\.attributes, attributes)
        Specification.given(Self.lunch).when(.putItem(item, section: "lunch", before: nil))
            .then([.itemAdded(item, section: "lunch", before: nil)])
    }

    @Test(arguments: [
        ("attributes: must have at most 50 entries", named(0..<51)),
        ("attributes.a: is there twice", ItemAttributes([.init("a", .number(1)), .init("a", .text("1"))])),
        ("attributes.a: must have 1–300 bytes, has 0", ItemAttributes([.init("a", .text(""))])),
        ("attributes.a[1]: must not contain control", ItemAttributes([.init("a", .texts(["x", "\n"]))])),
        (
            "attributes.a: must have at most 50 entries",
            ItemAttributes([.init("a", .texts(Array(repeating: "x", count: 51)))])
        ),
        (
            "attributes: must have at most 16384 bytes together",
            ItemAttributes(
                ["a", "b"].map {
                    .init($0, .texts(Array(repeating: Text(String(repeating: "x", count: 200)), count: 50)))
                }
            )
        ),
    ])
    func `attributes out of bounds are refused by name`(_ reason: String, _ attributes: ItemAttributes) {
        let item = MenuItem.sample("tea").with(\.attributes, attributes)
        Specification.given(Self.lunch).when(.putItem(item, section: "lunch", before: nil))
            .thenRejected(.invalid, naming: [reason])
    }

    @Test func `a menu's items have at most 200 different attributes together`() throws {
        let items = (0..<4).map { number in
            MenuItem.sample(Identifier("i\(number)")!).with(
                \.attributes, Self.named(number * 50..<number * 50 + 50))
        }
        let history = try MenuDocument(items).history
        let given = Specification.given(history)
        let shared = MenuItem.sample("new").with(\.attributes, Self.named(170..<200))
        given.when(.putItem(shared, section: "lunch", before: nil))
            .then([.itemAdded(shared, section: "lunch", before: nil)])
        let more = shared.with(\.attributes, Self.named(171..<201))
        given.when(.putItem(more, section: "lunch", before: nil)).thenRejected(.limit, naming: ["200 different"])
        Specification.given().when(.put(MenuDocument(items + [more]))).thenRejected(.limit, naming: ["200 different"])
        let renamed = items[3].with(\.attributes, Self.named(151..<201))
        given.when(.putItem(renamed, section: "lunch", before: nil)).then([.itemChanged(renamed)])
    }

    // MARK: Kinds

    @Test(arguments: ItemKind.all.filter { !$0.attributes.isEmpty })
    func `a kind's item has its attributes, of its types and within its bounds`(_ kind: ItemKind) {
        let item = MenuItem.sample("tea").with(\.kind, kind.name).with(\.attributes, .sample(of: kind))
        let given = Specification.given(Self.lunch)
        given.when(.putItem(item, section: "lunch", before: nil)).then([.itemAdded(item, section: "lunch", before: nil)]
        )
        for required in kind.attributes {
            let others = item.attributes.list.filter { $0.name != required.name }
            let wrong = required.values.outside.map { [ItemAttributes.Attribute(required.name, $0)] }
            for wrong in wrong + [[]] {
                let put = item.with(\.attributes, ItemAttributes(others + wrong))
                given.when(.putItem(put, section: "lunch", before: nil))
                    .thenRejected(.invalid, naming: ["attributes.\(required.name):", required.values.description])
            }
        }
    }
}

extension AttributeValues {
    /// Values that are not among these, each just so.
    fileprivate var outside: [AttributeValue] {
        let other: [AttributeValue] = [.number(1), .text("x"), .boolean(true), .texts(["x"])]
        switch self {
        case .number(let range):
            return [.number(AttributeNumber(millionths: range.upperBound.millionths + 1)), other[1]]
        case .text(let range): return [.text(Text(String(repeating: "x", count: range.upperBound + 1))), other[2]]
        case .boolean: return [other[0], other[3]]
        case .texts(let range): return [.texts(Array(repeating: "x", count: range.upperBound + 1)), other[0]]
        }
    }
}
