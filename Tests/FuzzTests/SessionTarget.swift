import Application
import EventLog
import LineProtocol
import SeededRandom
import TextFormats

@testable import LineServer

/// A client gets the same replies in the same order, however its bytes are cut, whenever writes become durable, and
/// however slowly it reads; and it is never left waiting.
enum SessionTarget {
    private static let limits = {
        var limits = LineConfiguration()
        limits.requestLimits = RequestTarget.limits
        limits.inputPause = 100
        limits.outputPause = 150
        limits.maximumPendingReplies = 4
        return limits
    }()

    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        let prompt = Conversation(limits, isAuthenticated: !input.isFlagged, chance: nil)
        try prompt.run([input.bytes])
        let slow = Conversation(limits, isAuthenticated: !input.isFlagged, chance: input.generator)
        try slow.run(input.chunks)
        try promise(
            slow.output == prompt.output,
            "'\(String(decoding: prompt.output, as: UTF8.self))', cut: '\(String(decoding: slow.output, as: UTF8.self))'"
        )
    }

    /// A session machine between a client and commands that answer what they were asked. The first letter of a request
    /// says what it does.
    private final class Conversation {
        private let limits: LineConfiguration
        private var machine: SessionMachine
        /// What decides when something happens; nil where everything happens at once.
        private var chance: SeededGenerator?
        private(set) var output: [UInt8] = []
        private var promised: [(turn: Int, reply: [UInt8], logsIn: Bool?)] = []
        private var pendingBytes = 0
        private var isReading = true
        private var isPaused = false
        private var isClosed = false

        init(_ limits: LineConfiguration, isAuthenticated: Bool, chance: SeededGenerator?) {
            self.limits = limits
            self.chance = chance
            machine = SessionMachine(limits: limits, at: 0)
            machine.isAuthenticated = isAuthenticated
        }

        func run(_ chunks: [[UInt8]]) throws {
            for chunk in chunks {
                while !isReading, !isClosed { try goOn() }
                guard !isClosed else { return }
                try chunk.withUnsafeBytes { bytes in
                    machine.received(bytes, at: 0)
                    try work()
                }
                while happens(30), isBusy { try goOn() }
            }
            machine.peerEnded()
            try work()
            while !isClosed { try goOn() }
        }

        /// Whether something is still to happen that the machine waits for.
        private var isBusy: Bool { isPaused || !promised.isEmpty || pendingBytes > 0 }

        private func happens(_ percent: Int) -> Bool { chance?.chance(percent) ?? true }

        /// The next thing that happens: a turn of the loop, a write that is durable, or a client that reads.
        private func goOn() throws {
            try promise(isBusy, "the client waits, and nothing will happen")
            if isPaused {
                isPaused = false
                machine.resume()
            } else if !promised.isEmpty, pendingBytes == 0 || happens(50) {
                let index = chance.map { _ in Int.random(in: promised.indices, using: &chance!) } ?? 0
                let kept = promised.remove(at: index)
                if let logsIn = kept.logsIn { machine.isAuthenticated = logsIn }
                machine.fulfil(kept.turn) { $0.bulk(kept.reply) }
            } else {
                pendingBytes = 0
            }
            try work()
        }

        private func work() throws {
            while true {
                switch machine.next(pendingBytes: pendingBytes) {
                case .execute(let arguments):
                    if chance != nil, happens(20) { postpone() } else { execute(arguments) }
                case .reject(let error): machine.reply { $0.error("ERR", error.message) }
                case .send:
                    output += machine.replies.bytes
                    if chance != nil, happens(40) { pendingBytes += machine.replies.count }
                    machine.sent()
                case .stopReading: isReading = false
                case .startReading: isReading = true
                case .close:
                    try promise(machine.isAnswered, "closed without an answer")
                    isClosed = true
                case .wait:
                    if chance == nil, isBusy { try goOn() }
                    return
                }
            }
        }

        private func postpone() {
            isPaused = true
            machine.postpone()
        }

        private func execute(_ arguments: Arguments) {
            let words = arguments.map { Array($0.bytes) }
            let (effect, category) = Conversation.effect(of: words[0].first)
            guard machine.admit(effect) else { return }
            let reply = Array(words.joined(separator: [UInt8(ascii: " ")]))
            guard let category else { return machine.reply { $0.bulk(reply) } }
            let logsIn: Bool? = words[0].first == UInt8(ascii: "A") ? words.count > 1 : nil
            let turn = machine.promise(about: category, isHolding: logsIn != nil || words.count > 3)
            promised.append((turn, reply, logsIn))
        }

        private static func effect(
            of letter: UInt8?
        ) -> (CommandDeclaration.Effect, promised: StreamName.Category?) {
            switch letter {
            case UInt8(ascii: "A"): (.read, .order)
            case UInt8(ascii: "C"): (.write(.cart), .cart)
            case UInt8(ascii: "M"): (.write(.menu), .menu)
            case UInt8(ascii: "O"): (.write(.outlet), .outlet)
            case UInt8(ascii: "R"): (.write(.cart), nil)
            default: (.read, nil)
            }
        }
    }
}
