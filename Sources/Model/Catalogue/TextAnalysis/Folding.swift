internal import ICUBridge

/// Folds text of any script with ICU: its NFKC case folding, then without accents, then Latin letters by those of
/// ASCII that stand for them, in NFC.
///
/// Accents are the nonspacing marks that belong to no script (Latin, Greek and Cyrillic accents, Arabic vowels). A mark
/// that has a script of its own is part of the spelling, and so are the voice marks, which both kinds of kana share.
final class Folding {
    private let caseFolding = Folding.form(icu_bridge_nfkc_casefold)
    private let decomposition = Folding.form(icu_bridge_nfd)
    private let composition = Folding.form(icu_bridge_nfc)
    private let latinToASCII: UnsafeMutableRawPointer
    /// What Latin letters were found to stand for. There are fewer than 2,000 that can get in.
    private var latinLetters: [UInt32: [UInt16]] = [:]
    private var source = UnitBuffer()
    private var target = UnitBuffer()

    init() {
        let name = Array("Latin-ASCII".utf16)
        var status: icu_bridge_status = 0
        let opened = icu_bridge_open_transliterator(name, Int32(name.count), &status)
        ICU.check(status)
        guard let opened else { preconditionFailure("ICU opened nothing and said nothing") }
        latinToASCII = opened
    }

    deinit {
        icu_bridge_close_transliterator(latinToASCII)
    }

    /// Writes the folded text as UTF-8 to the array, which may be longer than it; returns how many bytes it has.
    func fold(_ text: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) -> Int {
        source.fill { icu_bridge_from_utf8(text.baseAddress, Int32(text.count), $0, $1, &$2) }
        normalise(to: caseFolding)
        normalise(to: decomposition)
        simplify()
        normalise(to: composition)
        return source.withUnits { units in
            ICU.fill(&bytes) { icu_bridge_to_utf8(units.baseAddress, Int32(units.count), $0, $1, &$2) }
        }
    }

    /// Whether normalisation never combines the character with what precedes it.
    static func keepsApart(_ character: Unicode.Scalar) -> Bool {
        icu_bridge_has_boundary_before(form(icu_bridge_nfc), Int32(bitPattern: character.value))
    }

    private func normalise(to form: UnsafeRawPointer) {
        source.withUnits { units in
            target.fill { icu_bridge_normalize(form, units.baseAddress, Int32(units.count), $0, $1, &$2) }
        }
        swap(&source, &target)
    }

    /// Removes accents from decomposed text, and puts ASCII in the place of Latin letters.
    private func simplify() {
        target.removeAll()
        source.withUnits { units in
            var position = 0
            while position < units.count {
                let unit = units[position]
                var character = UInt32(unit)
                var next = position + 1
                if UTF16.isLeadSurrogate(unit) {
                    character = 0x10000 + (character & 0x3FF) << 10 + UInt32(units[next]) & 0x3FF
                    next += 1
                }
                if unit < 0x80 {
                    target.append(unit)
                } else {
                    simplify(character, UnsafeBufferPointer(rebasing: units[position..<next]))
                }
                position = next
            }
        }
        swap(&source, &target)
    }

    private func simplify(_ character: UInt32, _ units: UnsafeBufferPointer<UInt16>) {
        let code = Int32(bitPattern: character)
        if icu_bridge_is_latin(code) {
            for unit in latinLetter(character, units) { target.append(unit) }
        } else if !Folding.isAccent(code) {
            for unit in units { target.append(unit) }
        }
    }

    private static func isAccent(_ code: Int32) -> Bool {
        icu_bridge_is_inherited(code) && icu_bridge_is_nonspacing_mark(code) && !icu_bridge_is_used_in_katakana(code)
    }

    /// What a Latin letter stands for in lower-case ASCII; itself if for nothing.
    private func latinLetter(_ character: UInt32, _ units: UnsafeBufferPointer<UInt16>) -> [UInt16] {
        if let known = latinLetters[character] { return known }
        var text = Array(units)
        var status: icu_bridge_status = 0
        // No letter stands for more than a few.
        text.append(contentsOf: repeatElement(0, count: 32))
        let count = icu_bridge_transliterate(latinToASCII, &text, Int32(units.count), Int32(text.count), &status)
        ICU.check(status)
        text.removeSubrange(Int(count)...)
        let isASCII = !text.isEmpty && text.allSatisfy { $0 < 0x80 }
        let folded = isASCII ? text.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 } : Array(units)
        latinLetters[character] = folded
        return folded
    }

    private static func form(_ instance: (UnsafeMutablePointer<icu_bridge_status>) -> UnsafeRawPointer?)
        -> UnsafeRawPointer
    {
        var status: icu_bridge_status = 0
        let form = instance(&status)
        ICU.check(status)
        guard let form else { preconditionFailure("ICU has no form and said nothing") }
        return form
    }
}
