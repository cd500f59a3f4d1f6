internal import Audit
internal import EventLoop
internal import Foundation

/// How far a pass over the log has come, on standard error: a bar on a terminal, nothing elsewhere.
@LoopActor
final class PassProgress {
    private static let interval: UInt64 = 100_000_000

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let began = LoopActor.now
    private var drawnAt: UInt64 = 0

    /// Shows it soon, from whatever thread the pass runs on.
    nonisolated func showSoon(_ done: Int64, of total: Int64, _ what: String) {
        LoopActor.task { self.show(done, of: total, what) }
    }

    func show(_ done: Int64, of total: Int64, _ what: String) {
        let now = LoopActor.now
        guard isTerminal, total > 0, now - drawnAt > PassProgress.interval else { return }
        drawnAt = now
        let line = ProgressLine.text(what, done: done, of: total, seconds: Double(now - began) / 1e9)
        FileHandle.standardError.write(Data("\r\u{1b}[K\(line)".utf8))
    }

    func finish() {
        if drawnAt > 0 { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) }
        drawnAt = 0
    }
}
