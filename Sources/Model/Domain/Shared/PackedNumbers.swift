/// Numbers in few bytes: seven bits a byte, the lowest first, and the highest bit set while there are more.
extension [UInt8] {
    @inlinable
    package mutating func append(packed number: UInt64) {
        var rest = number
        while rest > 0x7F {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The number that begins at an index, which moves behind it.
    ///
    /// - Precondition: `append(packed:)` wrote the bytes, and a number begins there.
    @inlinable
    package func packedNumber(at index: inout Int) -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = self[index]
            index += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
    }
}
