internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// Faults that the monkey makes as a client. They have random numbers of their own, so the operations are the same
/// with and without them.
@LoopActor
final class Chaos {
    enum ClientFault: Equatable {
        /// The connection is cut in the middle of a request.
        case cutRequest
        /// The connection is cut in the middle of a reply.
        case cutReply
        /// This side ends its writing; everything sent still has to be answered.
        case halfClose
        /// A command is sent twice with one ID.
        case duplicate
        /// Nothing is read for a while.
        case slowRead(milliseconds: UInt64)

        var name: String {
            switch self {
            case .cutRequest: "cut in a request"
            case .cutReply: "cut in a reply"
            case .halfClose: "half-close"
            case .duplicate: "duplicate"
            case .slowRead: "slow read"
            }
        }
    }

    /// How many of a thousand commands get a fault.
    private static let duplicates = 10
    private static let cuts = 2

    private var chances: [SeededGenerator]
    private let run: Run

    init(run: Run, shoppers: Int, seed: UInt64) {
        self.run = run
        chances = (0..<shoppers).map { SeededGenerator(seed: ~seed, of: $0) }
    }

    /// The fault of a shopper's next command; nil for none.
    func next(for shopper: Shopper, _ call: Call) -> ClientFault? {
        guard run.phase == .open || run.phase == .closed else { return nil }
        let roll = chances[shopper.index].below(1_000)
        if roll < Chaos.duplicates {
            guard call.kind.isWrite else { return nil }
            run.recorder.made(ClientFault.duplicate.name)
            return .duplicate
        }
        switch roll - Chaos.duplicates {
        case 0..<Chaos.cuts: return .cutRequest
        case Chaos.cuts..<(2 * Chaos.cuts): return .cutReply
        case (2 * Chaos.cuts)..<(2 * Chaos.cuts + 1): return .halfClose
        case (2 * Chaos.cuts + 1)..<(2 * Chaos.cuts + 2):
            return .slowRead(milliseconds: UInt64(chances[shopper.index].number(20...300)))
        default: return nil
        }
    }
}
