internal import CLibPQ
internal import EventLoop

/// The rows of a query as a `COPY` in the binary format sends them: each in a message of its own, which costs server and
/// client less than a row of a statement.
@LoopActor
final class CopyOut {
    /// About how many bytes a page of rows has: few enough to be in a core's cache when they are read.
    private static let pageBytes = 1 << 18
    /// How many rows a page has at least, as long as they are no larger together than this.
    private static let rowsTogether = 8
    private static let largePageBytes = 1 << 23
    /// The most pages that wait for their reader. No more is then taken from the connection.
    private static let waitingPages = 3

    private var filling = CopiedPage(capacity: CopyOut.pageBytes)
    private var pages: [CopiedPage] = []
    private var isDiscarded = false
    private var outcome: Result<Void, PostgresError>?
    private var reader: CheckedContinuation<Void, Never>?
    /// There is room again.
    private let onRoom: @LoopActor () -> Void

    init(onRoom: @escaping @LoopActor () -> Void) {
        self.onRoom = onRoom
    }

    // MARK: What the connection does

    /// Whether the reader has to take rows before there can be more.
    var isFull: Bool { pages.count >= CopyOut.waitingPages && !isDiscarded }

    /// Takes what has come. Returns whether that was all.
    func take(from raw: OpaquePointer) -> Bool {
        while !isFull {
            var message: UnsafeMutablePointer<CChar>?
            let length = PQgetCopyData(raw, &message, 1)
            // Negative: the end, or a failure, which the next result tells.
            guard length > 0, let message else { return length < 0 }
            if !isDiscarded { take(UnsafeRawBufferPointer(start: message, count: Int(length))) }
            PQfreemem(message)
        }
        return false
    }

    private func take(_ row: UnsafeRawBufferPointer) {
        guard !filling.append(row) else { return }
        turnPage()
        // Of large rows several, so that they can be read at once.
        let wanted = min(row.count * CopyOut.rowsTogether, CopyOut.largePageBytes)
        filling = CopiedPage(capacity: max(CopyOut.pageBytes, row.count, wanted))
        _ = filling.append(row)
    }

    /// There are no more rows.
    func end(_ outcome: Result<Void, PostgresError>) {
        if case .success = outcome, !isDiscarded { turnPage() }
        self.outcome = outcome
        wakeReader()
    }

    private func turnPage() {
        guard !filling.bytes.isEmpty else { return }
        pages.append(filling)
        wakeReader()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    // MARK: What the reader does

    /// The next rows; nil if there are no more.
    func next() async throws(PostgresError) -> CopiedPage? {
        await LoopActor.wait(unless: { !pages.isEmpty || outcome != nil }) { reader = $0 }
        guard !pages.isEmpty else {
            try outcome?.get()
            return nil
        }
        defer { onRoom() }
        return pages.removeFirst()
    }

    /// Waits until the server has sent everything, and drops it.
    func discard() async {
        isDiscarded = true
        pages = []
        onRoom()
        await LoopActor.wait(unless: { outcome != nil }) { reader = $0 }
    }
}
