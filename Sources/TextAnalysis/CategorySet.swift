internal import CLibICU

/// Some of Unicode's general categories.
struct CategorySet {
    static let lettersAndNumbers = CategorySet([
        U_UPPERCASE_LETTER, U_LOWERCASE_LETTER, U_TITLECASE_LETTER, U_MODIFIER_LETTER, U_OTHER_LETTER,
        U_DECIMAL_DIGIT_NUMBER, U_LETTER_NUMBER, U_OTHER_NUMBER,
    ])
    static let marks = CategorySet([U_NON_SPACING_MARK, U_ENCLOSING_MARK, U_COMBINING_SPACING_MARK])
    /// Marks that take no room of their own.
    static let marksWithoutSpace = CategorySet([U_NON_SPACING_MARK, U_ENCLOSING_MARK])

    private let bits: UInt32

    init(_ categories: [UCharCategory]) {
        bits = categories.reduce(0) { $0 | 1 << UInt32($1.rawValue) }
    }

    /// Whether the character is in one of the categories.
    func contains(_ character: UChar32) -> Bool { tiffin_icu_category_mask(character) & bits != 0 }
}
