internal import CLibUV

/// What a child process writes to one of its outputs, up to a limit.
@LoopActor
final class CapturedOutput {
    private(set) var bytes: [UInt8] = []
    var isComplete: Bool { pipe == nil }

    private let limit: Int
    private var pipe: LoopHandle<uv_pipe_t>?
    private var onComplete: (@LoopActor () -> Void)?

    /// nil unless the output is to be captured.
    init?(_ output: ChildProcess.Launch.Output) {
        guard case .capture(let limit) = output else { return nil }
        self.limit = limit
        let pipe = makePipe()
        self.pipe = pipe
        pipe.setOwner(self)
    }

    /// The pipe to connect the process to. Not after `close`.
    var stream: UnsafeMutablePointer<uv_stream_t> { pipe!.stream }

    func start(_ onComplete: @escaping @LoopActor () -> Void) {
        self.onComplete = onComplete
        let code = uv_read_start(
            stream,
            { _, _, buffer in
                nonisolated(unsafe) let buffer = buffer!
                LoopActor.assumeIsolated { ReadBuffer.lend(buffer) }
            },
            { raw, count, buffer in
                let output = handleOwner(raw!.pointee.data, as: CapturedOutput.self)
                // Used only during this call, on this thread.
                nonisolated(unsafe) let bytes = UnsafeRawBufferPointer(
                    start: buffer!.pointee.base, count: max(count, 0))
                LoopActor.assumeIsolated { output.didRead(bytes, status: count) }
            })
        if code < 0 { close() }
    }

    func close() {
        pipe?.close()
        pipe = nil
        onComplete?()
        onComplete = nil
    }

    private func didRead(_ new: UnsafeRawBufferPointer, status: Int) {
        if status < 0 {
            close()
        } else {
            bytes.append(contentsOf: new.prefix(limit - bytes.count))
        }
    }
}
