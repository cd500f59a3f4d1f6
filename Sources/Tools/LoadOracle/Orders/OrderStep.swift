/// What is asked of an order.
package enum OrderStep: Equatable, Sendable {
    case accept(readyBy: String?)
    case reject(code: String, text: String? = nil)
    case prepare
    case ready
    case complete
    case delay(readyBy: String)
    case cancel(by: String, code: String, text: String? = nil)
    case pay(reference: String, kind: String, minor: Int64, of: String? = nil)
    case refund(Part, code: String)
    /// - Parameter within: how long it waits for an answer, in seconds; nil to wait as long as usual.
    case change([OrderEdit], by: String, within: Int?)
    case agree(digest: String)
    case decline(by: String?)
    case note

    /// What is given back.
    package enum Part: Equatable, Sendable {
        case rest
        case amount(Int64)
        case units(line: String, quantity: Int)
    }

    package var kind: Call.Kind {
        switch self {
        case .accept: .orderAccept
        case .reject: .orderReject
        case .prepare: .orderPrepare
        case .ready: .orderReady
        case .complete: .orderComplete
        case .delay: .orderDelay
        case .cancel: .orderCancel
        case .pay: .orderPayment
        case .refund: .orderRefund
        case .change: .orderChange
        case .agree: .orderAgree
        case .decline: .orderDecline
        case .note: .orderNoted
        }
    }

    /// The command about an order.
    package func words(_ order: String) -> [String] {
        func reason(_ text: String?) -> [String] { text.map { ["REASON", $0] } ?? [] }
        let arguments: [String] =
            switch self {
            case .accept(let readyBy): readyBy.map { ["READY", $0] } ?? []
            case .reject(let code, let text): ["CODE", code] + reason(text)
            case .prepare, .ready, .complete: []
            case .delay(let readyBy): ["READY", readyBy]
            case .cancel(let party, let code, let text): ["BY", party, "CODE", code] + reason(text)
            case .pay(let reference, let kind, let minor, let parent):
                [reference, kind, "\(minor)"] + (parent.map { ["OF", $0] } ?? [])
            case .refund(.rest, let code): ["CODE", code]
            case .refund(.amount(let minor), let code): ["CODE", code, "AMOUNT", "\(minor)"]
            case .refund(.units(let line, let quantity), let code):
                ["CODE", code, "LINE", line, "QTY", "\(quantity)"]
            case .change(let edits, let party, let seconds):
                [OrderEdit.json(edits), "BY", party] + (seconds.map { ["WITHIN", "\($0)"] } ?? [])
            case .agree(let digest): [digest]
            case .decline(let party): party.map { ["BY", $0] } ?? []
            case .note: []
            }
        return [kind.name.uppercased(), order] + arguments
    }

    /// The step that words ask for, with the order; nil if they are no such command.
    static func reading(_ words: [String]) -> (order: String, step: OrderStep)? {
        guard words.count > 1 else { return nil }
        func given(_ place: Int) -> String? { words.indices.contains(place) ? words[place] : nil }
        func word(_ place: Int) -> String { given(place) ?? "" }
        let step: OrderStep
        switch words[0] {
        case "ORDER.ACCEPT": step = .accept(readyBy: given(3))
        case "ORDER.REJECT": step = .reject(code: word(3), text: given(5))
        case "ORDER.PREPARE": step = .prepare
        case "ORDER.READY": step = .ready
        case "ORDER.COMPLETE": step = .complete
        case "ORDER.DELAY": step = .delay(readyBy: word(3))
        case "ORDER.CANCEL": step = .cancel(by: word(3), code: word(5), text: given(7))
        case "ORDER.PAYMENT":
            guard let minor = Int64(word(4)) else { return nil }
            step = .pay(reference: word(2), kind: word(3), minor: minor, of: given(6))
        case "ORDER.REFUND":
            if words.count == 4 {
                step = .refund(.rest, code: word(3))
            } else if words.count == 6, let minor = Int64(word(5)) {
                step = .refund(.amount(minor), code: word(3))
            } else if words.count == 8, let quantity = Int(word(7)) {
                step = .refund(.units(line: word(5), quantity: quantity), code: word(3))
            } else {
                return nil
            }
        case "ORDER.CHANGE":
            guard let edits = OrderEdit.reading(word(2)) else { return nil }
            step = .change(edits, by: word(4), within: given(6).flatMap { Int($0) })
        case "ORDER.AGREE": step = .agree(digest: word(2))
        case "ORDER.DECLINE": step = .decline(by: given(3))
        case "ORDER.NOTED": step = .note
        default: return nil
        }
        return (words[1], step)
    }
}
