internal import CLibUV

/// The memory of one libuv handle, which keeps its owner alive until libuv has let go of it.
@LoopActor
struct LoopHandle<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    init() {
        raw = .allocate(capacity: 1)
        UnsafeMutableRawPointer(raw).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<Raw>.size)
    }

    var base: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// The handle as a stream; only for handles that are streams.
    var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    /// Sets the object that `handleOwner` finds in callbacks, and retains it until the handle has closed.
    func setOwner(_ owner: AnyObject) {
        base.pointee.data = Unmanaged.passRetained(owner).toOpaque()
    }

    /// Closes an initialised handle; its memory and its owner are released when libuv is done with them.
    /// A callback given here must end with `releaseHandle`.
    func close(_ whenClosed: uv_close_cb = releaseHandle) {
        uv_close(base, whenClosed)
    }

    /// Frees a handle whose initialisation failed.
    func discard() {
        raw.deallocate()
    }
}

func handleOwner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner {
    Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
}

func releaseHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    if let owner = handle!.pointee.data {
        Unmanaged<AnyObject>.fromOpaque(owner).release()
    }
    UnsafeMutableRawPointer(handle!).deallocate()
}
