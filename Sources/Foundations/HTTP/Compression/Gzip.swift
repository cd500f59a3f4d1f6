// Gzip, through zlib.

internal import CLibZ

/// Compression as the web has it (RFC 1952).
public enum Gzip {
    /// Has zlib write, or expect, a head and an end of gzip around the largest window.
    static let windowBits = MAX_WBITS + 16

    /// The bytes in gzip; nil where there is no memory for that.
    ///
    /// - Parameter level: from 1, which is fastest, to 9, which is shortest.
    public static func compressed(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        var stream = z_stream()
        let code = deflateInit2_(
            &stream, level, Z_DEFLATED, windowBits, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        guard let input = UInt32(exactly: bytes.count) else { return nil }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        var bytes = bytes
        let end = bytes.withUnsafeMutableBufferPointer { bytes in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = bytes.baseAddress
                stream.avail_in = input
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard end == Z_STREAM_END else { return nil }
        output.removeLast(Int(stream.avail_out))
        return output
    }
}
