import Domain
import SeededRandom

/// Few words, so that random queries find something: in several scripts, some differing only in case and accents, and
/// some with long beginnings in common.
enum Vocabulary {
    static let words = [
        "Rice", "rice", "Curry", "Café", "cafe", "Crème", "Brûlée", "Domino's", "Jalapeño", "jalapeno", "Restaurant",
        "Restaurants", "restaurant-a", "3.5", "宫保鸡丁", "鸡肉", "மசால", "தோசை", "කොත්තු", "හොප්පර්", "हिन्दी", "थाली",
        "パン", "ﾊﾟﾝ", "ข้าวผัด", "Smørrebrød", "😀",
    ]
    static let cities: [Text?] = ["Colombo", "colombo", "Kandy", "São Paulo", nil]
    static let areas: [Text?] = ["Fort", "FORT", "Pettah", nil]
    static let cuisines: [Text] = ["Thai", "thai", "Café", "Cafe\u{301}", "Sri Lankan", "中国菜"]
    static let currencies: [Text] = ["LKR", "usd"]
    static let tags: [Text] = ["hot", "Hot", "veg", "new"]
    /// Numbers around which buckets, bands and the width of columns change.
    static let prices: [Int64] = [
        0, 1, 2, 5, 9, 10, 64, 99, 100, 109, 110, 128, 199, 200, 1_000, 2_147_483_646, 2_147_483_647, 2_147_483_648,
        1_000_000_000_000,
    ]

    static let attributeNames = ["size", "blood", "vegan", "nuts"]
    /// Few, so that names mix types; among the numbers some around which buckets change.
    static let attributeValues: [AttributeValue] =
        ["-1000000000000", "-42.5", "-1", "-0.000064", "0", "0.000063", "1", "41", "42.5", "1000000000000"]
        .map { .number(AttributeNumber($0)!) } + [
            .text("A"), .text("a"), .text("\u{e1}"), .text("42.5"), .text("true"), .boolean(true), .boolean(false),
            .texts([]), .texts(["A", "B", "A"]), .texts(["milk"]),
        ]

    static func attributes(_ generator: inout SeededGenerator) -> [ItemAttributes.Attribute] {
        attributeNames.filter { _ in generator.chance(40) }
            .map { ItemAttributes.Attribute(Identifier($0)!, generator.pick(attributeValues)) }
    }

    static func name(_ generator: inout SeededGenerator) -> Text {
        let first = generator.chance(40) ? ["Restaurant"] : []
        return Text((first + (0..<generator.number(1..<4)).map { _ in generator.pick(words) }).joined(separator: " "))
    }

    static func price(_ generator: inout SeededGenerator) -> Int64 {
        generator.chance(20) ? generator.pick(prices) : Int64(generator.number(0..<300))
    }
}
