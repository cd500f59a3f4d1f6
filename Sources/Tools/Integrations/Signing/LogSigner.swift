package import EventLog
package import EventLoop
internal import Foundation

/// Signs what the partitions of a log are, has witnesses cosign it, and publishes it for servers to give to whoever asks.
///
/// The promise: nothing is signed that does not go on from what was signed before. That is kept in a folder of its own,
/// not in the database, whose loss is one of the things that it is there to notice.
@LoopActor
package final class LogSigner {
    private let name: String
    private let signers: [NoteSigner]
    private let witnesses: [WitnessAddress]
    private let folder: NoteFolder
    private let prover: Prover
    private let publish: @LoopActor (PublishedHead, Int) async throws -> Void
    private let say: @LoopActor (String) -> Void
    /// The size that each witness has cosigned last, as far as it has told.
    private var sizes: [String: Int64] = [:]
    /// The heads that all witnesses have cosigned.
    private var done: [Int: SignedHead] = [:]

    /// - Parameters:
    ///   - name: the name of the log.
    ///   - signers: its keys; several while it changes from one to another.
    ///   - publish: publishes a head of a partition.
    ///   - say: told, for an operator, what is not signed or cosigned.
    package init(
        _ name: String, signers: [NoteSigner], witnesses: [WitnessAddress], folder: NoteFolder, log: any EventLog,
        publish: @escaping @LoopActor (PublishedHead, Int) async throws -> Void,
        say: @escaping @LoopActor (String) -> Void
    ) {
        self.name = name
        self.signers = signers
        self.witnesses = witnesses
        self.folder = folder
        prover = Prover(log, mendsTree: false)
        self.publish = publish
        self.say = say
    }

    /// What became of a partition.
    package enum Outcome: Equatable, Sendable {
        /// Its head is signed and published; how many witnesses have cosigned it.
        case signed(size: Int64, cosignatures: Int)
        /// Nothing has happened since.
        case unchanged
        /// It is not what was signed before, or cannot be read.
        case refused
    }

    /// Signs the present head of a partition.
    package func sign(_ partition: Int) async throws -> Outcome {
        let name = "\(partition)"
        let known = try folder.note(name).flatMap { SignedHead(text: $0.text) }
        let growth: TreeGrowth
        do throws(Prover.Failure) {
            growth = try await prover.growth(of: partition, since: known?.size)
        } catch {
            if case .unsuitableSize(let size) = error {
                say(
                    "partition \(partition): the log has \(size) batches, and its head over \(known?.size ?? 0) was signed: "
                        + "it has lost what was there. Nothing is signed")
            } else {
                say("partition \(partition): nothing is signed: \(error)")
            }
            return .refused
        }
        if let known, growth.since?.root != known.root {
            say(
                "partition \(partition): the first \(known.size) batches are not those whose head was signed. Nothing is "
                    + "signed")
            return .refused
        }
        let head = SignedHead(of: growth.head, in: self.name)
        guard head.size > 0, done[partition] != head else { return .unchanged }
        var note = SignedNote(text: head.text)
        note.signatures = signers.map { $0.sign(note.text, at: 0) }
        // Before anybody sees it.
        try folder.keep(note, as: name)
        for witness in witnesses {
            guard let signature = await cosign(note, growth, by: witness) else { continue }
            note.signatures.append(signature)
        }
        let cosignatures = note.signatures.count - signers.count
        try await publish(PublishedHead(note: "\(note)", position: growth.head.position), partition)
        done[partition] = cosignatures == witnesses.count ? head : nil
        return .signed(size: head.size, cosignatures: cosignatures)
    }

    /// Asks a witness. It may know an earlier head than was signed last, as it was away then.
    private func cosign(
        _ note: SignedNote, _ growth: TreeGrowth, by witness: WitnessAddress
    ) async -> SignedNote.Signature? {
        let (partition, size) = (growth.head.partition, growth.head.size)
        let key = "\(partition) \(witness.url)"
        var earlier = sizes[key] ?? growth.since?.size ?? 0
        var refusal = "says each time that it knows another size"
        for _ in 0..<3 {
            guard earlier <= size else {
                refusal = "has cosigned a head over \(earlier) batches, and there are \(size)"
                break
            }
            let proof: [Digest]
            do throws(Prover.Failure) {
                proof =
                    try await prover.growth(of: partition, head: growth.head.position, since: earlier).since?.path ?? []
            } catch {
                say("partition \(partition): no proof for \(witness.key.name): \(error)")
                return nil
            }
            switch await witness.ask(for: note, from: earlier, proof) {
            case .cosigned(let signature):
                sizes[key] = size
                return signature
            case .knows(let other): earlier = other
            case .refused(let reason):
                say("partition \(partition): witness \(witness.key.name) does not cosign: it \(reason)")
                return nil
            case .away(let reason):
                say("partition \(partition): witness \(witness.key.name) does not cosign: its address \(reason)")
                return nil
            }
        }
        say("partition \(partition): witness \(witness.key.name) does not cosign: it \(refusal)")
        return nil
    }
}
