import SeededRandom

/// Random texts.
enum RandomText {
    /// Names as on menus, in many scripts.
    static let names = [
        "Jalapeño Poppers", "crème brûlée", "SMØRREBRØD", "Domino's Pizza", "Domino’s", "l'été à l'œuvre",
        "Fish ʼn’ Chips", "Rock'n'Roll", "Straße", "İstanbul Kebapçısı", "ılık çorba", "Phở bò tái", "Bánh mì đặc biệt",
        "කොත්තු රොටි", "ශ්‍රී ලංකා", "தோசை சாம்பார்", "पनीर टिक्का", "क़ीमा", "বিরিয়ানি", "ਮੱਖਣ ਪਨੀਰ", "宫保鸡丁 (大)", "麻婆豆腐盖饭",
        "鮭のおにぎり", "ラーメン・餃子", "ﾊﾞﾅﾅ ﾊﾟﾝ", "Tシャツ7喜", "か\u{3099}き氷", "ผัดไทยกุ้งสด", "น้ำตกหมู", "ລາບໄກ່", "អាម៉ុកត្រី",
        "ဝက်သားနီချက်", "كَبَاب الدجاج", "چلوکباب می‌خواهم", "פלאפל בפיתה", "Γύρος με Πίτα", "Μουσακάς", "Борщ з пампушками",
        "Пельмени ёжик",
        "Кав'ярня", "김치찌개", "비빔밥 2인분", "ＡＢＣ １２３", "ﬁsh & ﬂan", "№ 5 ½ ²", "ქართული ხაჭაპური", "Խորոված", "ዶሮ ወጥ",
        "ས་མོ་མོ།",
        "🍕 pizza 👩‍🍳", "3.5 well-done a_b", "Ꮳꮃꭹ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𠮷野家", "Kāneʻohe",
    ]

    /// Words of the names, mixed.
    static func ofNames(_ random: inout SeededGenerator) -> String {
        (0..<random.number(1..<5)).map { _ in
            let words = random.pick(names).split(separator: " ")
            let word = random.pick(words)
            return random.chance(20) ? word.uppercased() : String(word)
        }.joined(separator: random.pick([" ", "  ", "-", ", ", "/", "\u{200B} "]))
    }

    /// Any characters, with those that have rules of their own more often than by chance.
    static func ofAnything(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<random.number(0..<24) { text.append(scalar(&random)) }
        return String(text)
    }

    /// Printable and other ASCII.
    static func ofASCII(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<random.number(0..<90) {
            let range = random.pick([0x00..<0x80, 0x41..<0x5B, 0x61..<0x7B, 0x61..<0x7B, 0x20..<0x3A])
            text.append(random.chance(8) ? "'" : Unicode.Scalar(UInt8(random.number(range))))
        }
        return String(text)
    }

    private static func scalar(_ random: inout SeededGenerator) -> Unicode.Scalar {
        let range = random.pick([
            0x20..<0x7F, 0x20..<0x7F, 0x80..<0x250, 0x300..<0x370, 0x370..<0x530, 0x5D0..<0x700, 0x900..<0xE00,
            0xE00..<0x1200, 0x1100..<0x1200, 0x1E00..<0x2000, 0x2000..<0x2070, 0x3000..<0x3100, 0x4E00..<0x4E40,
            0xA000..<0xD7B0, 0xD7F0..<0xD800, 0xE000..<0xE010, 0xF900..<0x10000, 0x10000..<0x20000,
            0x1F300..<0x1FB00, 0xE0000..<0xE0200, 0x0..<0x110000,
        ])
        if random.chance(6) { return random.pick(["'", "’", "\u{02BC}", "\u{200D}", "\u{3099}", "\u{0DCA}"]) }
        return Unicode.Scalar(UInt32(random.number(range))) ?? "\u{D7FF}"
    }
}
