package import EventLog
internal import HTTP

/// Cosigns the heads of logs, each only if it goes on from the one that it cosigned before (c2sp.org/tlog-witness). So a
/// log that shows two histories gets its cosignature for one of them only.
///
/// It knows no socket: requests in, answers out. What it has cosigned is in its folder before it says so.
package final class Witness {
    /// The most hashes of a proof.
    private static let longestProof = 63

    private let signer: NoteSigner
    private let logs: [NoteVerifier]
    private let folder: NoteFolder

    /// - Parameters:
    ///   - signer: its own key.
    ///   - logs: the keys of the logs that it cosigns. A log may have several, while it changes keys.
    ///   - folder: its memory.
    package init(signer: NoteSigner, logs: [NoteVerifier], folder: NoteFolder) {
        self.signer = signer
        self.logs = logs
        self.folder = folder
    }

    /// What it answers.
    package struct Answer: Equatable {
        /// The status of HTTP.
        package var status: Int
        /// The body, plain text.
        package var body: String
        /// The body's type.
        package var type = "text/plain; charset=utf-8"
    }

    /// A request for a cosignature: the size that was cosigned before, a proof of consistency, and a signed head.
    private struct Submission {
        let earlier: Int64
        let proof: [Digest]
        let note: SignedNote
        let head: SignedHead

        init?(_ body: String) {
            guard let blank = body.firstRange(of: "\n\n"),
                let note = SignedNote(String(body[blank.upperBound...])), let head = SignedHead(text: note.text)
            else { return nil }
            var lines = body[..<blank.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)[...]
            guard let first = lines.popFirst(), first.hasPrefix("old "), let earlier = Int64(first.dropFirst(4)),
                earlier >= 0, "\(earlier)" == first.dropFirst(4), lines.count <= Witness.longestProof
            else { return nil }
            proof = lines.compactMap { Digest(base64: String($0)) }
            guard proof.count == lines.count else { return nil }
            self.earlier = earlier
            self.note = note
            self.head = head
        }
    }

    /// Answers `POST /add-checkpoint`.
    ///
    /// - Parameter now: in seconds since 1970.
    package func add(_ body: String, at now: UInt64) throws(NoteFolderError) -> Answer {
        guard let submission = Submission(body) else {
            return Answer(
                status: 400,
                body: "the body must be 'old' and a size, the hashes of a proof, an empty line and a signed head\n")
        }
        let head = submission.head
        let keys = logs.filter { SignedHead.isOrigin(head.origin, ofLog: $0.name) }
        guard !keys.isEmpty else { return Answer(status: 404, body: "this witness does not know \(head.origin)\n") }
        let findings = keys.map { $0.find(in: submission.note) }
        guard findings.contains(.signed(at: nil)), !findings.contains(.forged) else {
            return Answer(status: 403, body: "no key of this log has signed that\n")
        }
        guard submission.earlier <= head.size else {
            return Answer(
                status: 400, body: "a log of \(head.size) batches does not go on from \(submission.earlier)\n")
        }
        let name = Witness.name(of: head.origin)
        let known = try folder.note(name).flatMap { SignedHead(text: $0.text) }
        guard submission.earlier == known?.size ?? 0 else {
            return Answer(status: 409, body: "\(known?.size ?? 0)\n", type: "text/x.tlog.size")
        }
        let earlier = (size: submission.earlier, root: known?.root ?? MerkleTree.root([]))
        guard MerkleTree.isConsistent(earlier, with: (head.size, head.root), path: submission.proof),
            head.size > 0 || head.root == MerkleTree.root([])
        else { return Answer(status: 422, body: "this does not go on from what was cosigned before\n") }
        let cosignature = signer.sign(submission.note.text, at: now)
        var kept = submission.note
        kept.signatures = submission.note.signatures.filter { signature in
            keys.contains { $0.find(in: SignedNote(text: kept.text, signatures: [signature])) == .signed(at: nil) }
        }
        kept.signatures.append(cosignature)
        try folder.keep(kept, as: name)
        return Answer(status: 200, body: "\(cosignature)\n")
    }

    /// Answers `GET /<name>/checkpoint`: the newest head of a log that it has cosigned.
    ///
    /// - Parameter name: the SHA-256 of the head's first line, in hexadecimal.
    package func newest(_ name: String) throws(NoteFolderError) -> Answer {
        guard Digest(hexadecimal: name) != nil, let note = try folder.note(name) else {
            return Answer(status: 404, body: "nothing was cosigned\n")
        }
        return Answer(status: 200, body: "\(note)")
    }

    private static func name(of origin: String) -> String { Digest.of(Array(origin.utf8)).description }
}
