package import EventLog
internal import Foundation
internal import HTTP
internal import Parallelism

/// A witness that a signer asks: where it is, and whose cosignature counts.
package struct WitnessAddress: Sendable {
    /// How long it may take for its answer, in seconds.
    private static let patience = 5
    private static let longestAnswer = 64 << 10

    /// Its address.
    package let url: String
    /// Its key.
    package let key: NoteVerifier

    /// A witness from its address and its key, with a space between them; nil for any other text.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let key = NoteVerifier(String(words[1])), key.kind == .cosigner else { return nil }
        url = words[0].hasSuffix("/") ? String(words[0].dropLast()) : String(words[0])
        self.key = key
    }

    /// What it answered.
    enum Answer: Equatable {
        /// It has cosigned.
        case cosigned(SignedNote.Signature)
        /// It has cosigned another size last.
        case knows(Int64)
        /// It does not cosign that, for this reason.
        case refused(String)
        /// It cannot be asked, for this reason.
        case away(String)
    }

    /// Asks for a cosignature.
    ///
    /// - Parameter proof: shows that the head goes on from an earlier size.
    func ask(for note: SignedNote, from earlier: Int64, _ proof: [Digest]) async -> Answer {
        let lines = ["old \(earlier)"] + proof.map { Data($0.bytes).base64EncodedString() }
        let body = lines.map { "\($0)\n" }.joined() + "\n\(note)"
        let post = HTTPPost(
            "\(url)/add-checkpoint", headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(body.utf8),
            seconds: WitnessAddress.patience)
        // No other witness waits for one that says nothing.
        let answer = await onThread { () throws(HTTPError) in try post.exchange(atMost: WitnessAddress.longestAnswer) }
        switch answer {
        case .failure(let error): return .away("\(error)")
        case .success(let (status, bytes)):
            let text = String(decoding: bytes, as: UTF8.self)
            return result(status, text, of: note)
        }
    }

    private func result(_ status: Int, _ text: String, of note: SignedNote) -> Answer {
        switch status {
        case 200:
            for line in text.split(separator: "\n") {
                guard let signature = SignedNote.Signature(line: line) else { continue }
                if case .signed = key.find(in: SignedNote(text: note.text, signatures: [signature])) {
                    return .cosigned(signature)
                }
            }
            return .refused("answers without a signature of its key")
        case 409: return Int64(text.trimmingCharacters(in: .newlines)).map(Answer.knows) ?? .refused("answers 409")
        default: return .refused("answers \(status): \(text.prefix(200).trimmingCharacters(in: .newlines))")
        }
    }
}
