internal import CLibPQ
internal import EventLoop

/// Takes a connection that libpq has begun to establish through its steps.
@LoopActor
final class ConnectAttempt {
    private let raw: OpaquePointer
    private var poll: PollSource?
    private var timer: LoopTimer?
    private var continuation: CheckedContinuation<Result<Void, PostgresError>, Never>?

    init(_ raw: OpaquePointer) {
        self.raw = raw
    }

    func finish(within timeout: Duration) async throws(PostgresError) {
        guard PQstatus(raw) != CONNECTION_BAD else { throw PostgresError(connecting: raw) }
        try await withCheckedContinuation { continuation in
            self.continuation = continuation
            timer = LoopTimer(milliseconds: timeout.wholeMilliseconds) {
                self.end(.failure(PostgresError(.connection, .noAnswer, "no answer within \(timeout)")))
            }
            // libpq's rule: begin as if it had asked to wait for writing.
            wait(for: .write)
        }.get()
    }

    private func step() {
        switch PQconnectPoll(raw) {
        case PGRES_POLLING_OK: end(.success(()))
        case PGRES_POLLING_READING: wait(for: .read)
        case PGRES_POLLING_WRITING: wait(for: .write)
        default: end(.failure(PostgresError(connecting: raw)))
        }
    }

    /// libpq may switch to another socket at each step, even to one with the same number.
    private func wait(for interest: PollSource.Interest) {
        poll?.close()
        do {
            poll = try PollSource(fileDescriptor: PQsocket(raw)) { _ in self.step() }
            try poll?.wait(for: interest)
        } catch {
            end(.failure(PostgresError(.connection, .cannotConnect, error.description)))
        }
    }

    private func end(_ result: Result<Void, PostgresError>) {
        poll?.close()
        poll = nil
        timer?.cancel()
        timer = nil
        continuation?.resume(returning: result)
        continuation = nil
    }
}

extension Duration {
    /// Whole milliseconds, at least one; not for negative durations.
    var wholeMilliseconds: UInt64 { max(1, UInt64(self / .milliseconds(1))) }
}
