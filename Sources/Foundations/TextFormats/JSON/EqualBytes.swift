#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension UnsafeRawBufferPointer {
    /// Whether both have the same bytes. Documents are long, and the comparison of arrays goes byte by byte.
    public func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let one = baseAddress, let other = other.baseAddress else { return true }
        return memcmp(one, other, count) == 0
    }
}
