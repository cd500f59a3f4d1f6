internal import CLibUV

/// What every stream reads into: libuv asks for a buffer and fills it before it does anything else.
@LoopActor
enum ReadBuffer {
    private static let size = 64 * 1024
    private static let shared = UnsafeMutableBufferPointer<CChar>.allocate(capacity: size)

    static func lend(_ buffer: UnsafeMutablePointer<uv_buf_t>) {
        buffer.pointee = uv_buf_init(shared.baseAddress, UInt32(shared.count))
    }
}
