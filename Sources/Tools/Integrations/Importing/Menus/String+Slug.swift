internal import Foundation

extension String {
    /// Room is left in an identifier for a number behind the slug.
    private static let longestSlug = 48

    /// The text in small ASCII letters and digits, accents dropped, everything else as single dashes:
    /// `tex-mex` for "Tex & Mex". `fallback` where no letter is left.
    func slug(orElse fallback: String) -> String {
        let folded = folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        let words = folded.utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        let slug = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
            .prefix(String.longestSlug)
        return slug.isEmpty ? fallback : String(slug)
    }
}
