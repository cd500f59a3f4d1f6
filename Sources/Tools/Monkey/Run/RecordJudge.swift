internal import Foundation
internal import LoadOracle

/// Judges a run that was recorded, without a server.
struct RecordJudge {
    /// How many bytes are read at once, and how long a line may be.
    private static let chunk = 1 << 20
    private static let longestLine = 1 << 28

    private var replay = Replay()
    /// The beginning of an unfinished line.
    private var rest: [UInt8] = []

    /// What `--judge` prints about a record, and how the recorded run ended.
    ///
    /// - Throws: `CannotRun` if the file cannot be read or is not a record.
    static func judge(_ path: String) throws -> (lines: [String], outcome: RunReport.Outcome) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CannotRun("--judge: \(path) cannot be read")
        }
        defer { try? file.close() }
        var judge = RecordJudge()
        do {
            while let data = try file.read(upToCount: chunk), !data.isEmpty { try judge.take(data) }
            let oracle = try judge.finish()
            let checks = RunReport.Checks(oracle)
            let outcome = RunReport.Outcome(oracle)
            return (
                checks.summary + oracle.remarks.map { "note    " + $0 }
                    + (outcome == .held ? [] : ["", "repeat  " + judge.replay.command]),
                outcome
            )
        } catch let error as RecordError {
            throw CannotRun("--judge: \(path), \(error)")
        } catch is CocoaError {
            throw CannotRun("--judge: \(path) cannot be read")
        }
    }

    private mutating func take(_ data: Data) throws {
        for byte in data {
            guard byte == UInt8(ascii: "\n") else {
                rest.append(byte)
                continue
            }
            try replay.take(rest)
            rest.removeAll(keepingCapacity: true)
        }
        guard rest.count < RecordJudge.longestLine else { throw CannotRun("--judge: a line of the record is too long") }
    }

    private mutating func finish() throws -> Oracle {
        if !rest.isEmpty { try replay.take(rest) }
        return try replay.finish()
    }
}

extension Oracle {
    /// What a reader has to know about the checks, a sentence each.
    var remarks: [String] {
        var remarks: [String] = []
        if !unanswered.isEmpty {
            let kinds = Dictionary(grouping: unanswered, by: \.name).mapValues(\.count).sorted { $0.key < $1.key }
            remarks.append("never answered: " + kinds.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        }
        if let unreadLog {
            remarks.append("the log could not be read, so the outcome of every command is unknown: \(unreadLog)")
        }
        if uncheckedMessages > 0 {
            remarks.append("\(uncheckedMessages) messages were too many to be compared with the log")
        }
        return remarks
    }
}
