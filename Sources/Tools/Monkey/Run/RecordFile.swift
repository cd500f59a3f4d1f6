internal import EventLoop
internal import Foundation
internal import LoadOracle

/// The file that a run is recorded in. It is written as the run goes on, so that little of it is ever in memory.
@LoopActor
final class RecordFile {
    /// Bytes that wait before they are written.
    private static let buffer = 1 << 18

    private var writer: RecordWriter
    private var file: FileHandle?
    /// Why nothing more is written.
    private(set) var failure: String?

    /// - Throws: `CannotRun` if the file cannot be written.
    init(_ path: String, _ writer: RecordWriter) throws {
        self.writer = writer
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw CannotRun("--record: \(path) cannot be written") }
        self.file = file
    }

    func add(_ observation: Observation) {
        guard file != nil else { return }
        writer.add(observation)
        if writer.count >= RecordFile.buffer { write() }
    }

    /// Writes what waits, and closes the file.
    func end() {
        guard file != nil else { return }
        writer.end()
        write()
        try? file?.close()
        file = nil
    }

    private func write() {
        do {
            try file?.write(contentsOf: Data(writer.takeBytes()))
        } catch {
            failure = "the file cannot be written any more"
            try? file?.close()
            file = nil
        }
    }
}
