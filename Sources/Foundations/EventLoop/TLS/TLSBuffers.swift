/// The memory that engines work in, one after the other. All connections of a thread share it.
public final class TLSBuffers {
    /// Room for what one read of a socket can hold, with the record that it completes.
    static let plainCapacity = 96 * 1_024
    /// What the emptied buffer keeps.
    private static let keptCapacity = 128 * 1_024

    let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: plainCapacity, alignment: 16)
    private var sealed: [UInt8] = []

    /// Buffers for the engines of one thread.
    public init() {}

    deinit { plain.deallocate() }

    func append(sealed bytes: UnsafeRawBufferPointer) { sealed.append(contentsOf: bytes) }

    /// Hands over what an engine has for its peer. Every call of an engine is followed by this one.
    public func flush(_ send: (UnsafeRawBufferPointer) -> Void) {
        guard !sealed.isEmpty else { return }
        sealed.withUnsafeBytes(send)
        sealed.removeAll(keepingCapacity: sealed.capacity <= TLSBuffers.keptCapacity)
    }
}
