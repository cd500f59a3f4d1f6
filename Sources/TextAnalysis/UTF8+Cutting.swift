extension UnsafeBufferPointer<UInt8> {
    /// The longest beginning of this UTF-8 that has so many bytes at most and does not end within a character.
    func prefixOfCharacters(atMost limit: Int) -> UnsafeBufferPointer<UInt8> {
        guard count > limit else { return self }
        var end = limit
        while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeBufferPointer(rebasing: self[..<end])
    }
}
