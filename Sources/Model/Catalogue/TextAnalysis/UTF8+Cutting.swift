extension UnsafeBufferPointer<UInt8> {
    /// The longest prefix of this UTF-8 with at most that many bytes that does not end within a character.
    func prefixOfCharacters(atMost limit: Int) -> UnsafeBufferPointer<UInt8> {
        guard count > limit else { return self }
        var end = limit
        while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeBufferPointer(rebasing: self[..<end])
    }
}
