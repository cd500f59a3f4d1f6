internal import CLibZ

extension Gzip {
    /// What became of bytes that were to be unpacked.
    public enum Unpacked: Equatable, Sendable {
        case bytes([UInt8])
        /// They end before what was packed does.
        case cutShort
        /// They are no gzip, or not what was packed: a checksum differs.
        case malformed
        /// They hold more than was allowed.
        case tooLong
    }

    private static let chunkLength = 64 << 10

    /// What was packed. Several packed parts, one behind the other, are one document.
    ///
    /// - Parameter maximumLength: the most bytes that are unpacked.
    public static func unpacked(_ packed: [UInt8], atMost maximumLength: Int) -> Unpacked {
        var stream = z_stream()
        guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return .malformed
        }
        defer { inflateEnd(&stream) }
        var packed = packed
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkLength)
        return packed.withUnsafeMutableBufferPointer { packed in
            var index = 0
            while true {
                let offered = min(packed.count - index, chunkLength)
                let (code, taken, made) = chunk.withUnsafeMutableBufferPointer { chunk in
                    stream.next_in = packed.baseAddress.map { $0 + index }
                    stream.avail_in = UInt32(offered)
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = UInt32(chunk.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, offered - Int(stream.avail_in), chunk.count - Int(stream.avail_out))
                }
                index += taken
                guard made <= maximumLength - output.count else { return .tooLong }
                output += chunk[..<made]
                switch code {
                case Z_OK: break
                // Nothing was left to read, or to write.
                case Z_BUF_ERROR: return .cutShort
                case Z_STREAM_END:
                    guard index < packed.count else { return .bytes(output) }
                    guard inflateReset(&stream) == Z_OK else { return .malformed }
                default: return .malformed
                }
            }
        }
    }
}
