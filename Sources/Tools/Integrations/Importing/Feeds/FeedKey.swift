/// For what a feed's validators hold. Another import of the same feed may make another menu of it, and must then see it.
enum FeedKey {
    /// Rises when an import makes another menu of the same feed than before.
    private static let version = 2

    /// The key of an import from an address by these options: 32 bits of a hash (FNV-1a), so few that the address
    /// cannot be told from it.
    static func key(of address: String, _ options: ImportOptions.Source) -> String {
        let text = "\(version) \(address) \(options)"
        let hash = text.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return String(hash, radix: 16)
    }
}
