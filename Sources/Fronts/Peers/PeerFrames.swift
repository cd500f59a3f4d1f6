// How servers of one log talk to each other: calls one way, answers the other, each with the number of its call. Answers
// come in any order, so nobody waits for a call that takes long.
//
// A call is an array of bulk strings, as every request of the line protocol; an answer is an array of RESP3. A server
// that decides something about an outlet or a menu also says how far its partition goes by then. Both ends are the same
// version of Tiffin or one that understands it: a server ends a connection on which it finds anything else.

internal import Application
internal import Domain
internal import EventLog
internal import LineProtocol
internal import TextFormats
internal import Users

/// A call on its way to the server that decides it.
struct PeerCall {
    /// Whose answer it is, among the calls of a connection.
    var number: Int64
    var call: ForwardedCall

    init(number: Int64, _ call: ForwardedCall) {
        self.number = number
        self.call = call
    }

    /// The call in a request; nil where there is none.
    init?(_ request: Arguments) {
        guard let view = PeerCallView(request) else { return nil }
        self = view.kept
    }

    /// As a request. What it begins with has as many words in every call, but for the confinement.
    func write(to writer: inout RequestWriter) {
        let origin = call.origin
        let confinement = origin.confinement?.words ?? []
        writer.begin(PeerCallView.headCount + confinement.count + call.words.count)
        writer.argument("\(number)")
        writer.argument("\(origin.client)")
        writer.argument("\(origin.caller.number)")
        writer.argument("\(origin.rights.rawValue)")
        writer.argument(origin.isRecall ? "recall" : "")
        writer.argument(origin.actor.map(\.description) ?? "")
        writer.argument("\(origin.position)")
        writer.argument("\(confinement.count)")
        for word in confinement { writer.argument(word) }
        for word in call.words { writer.argument(word) }
    }
}

/// A call of another server where it has arrived, valid as long as its bytes stay there.
struct PeerCallView {
    /// How many words come before the confinement.
    static let headCount = 8

    let number: Int64
    let origin: CallOrigin
    /// The command's name and its arguments.
    let words: Arguments

    /// The call in a request; nil where there is none.
    init?(_ request: Arguments) {
        let head = PeerCallView.headCount
        guard request.count > head, let number = request[0].integer, let client = request[1].integer,
            let caller = request[2].integer, let rights = request[3].integer.flatMap(UInt8.init(exactly:)),
            let actor = request[5].string, let position = request[6].integer, let count = request[7].integer,
            (0...Int64(request.count)).contains(count), let words = request.call(behind: head + Int(count))
        else { return nil }
        var confinement: Confinement?
        if count > 0 {
            confinement = Confinement(words: (head..<head + Int(count)).map { request[$0].string ?? "" })
            // What cannot be read must not free the caller.
            if confinement == nil { return nil }
        }
        self.number = number
        self.words = words
        origin = CallOrigin(
            rights: Rights(rawValue: rights), confinement: confinement, caller: Caller(number: Int(caller)),
            client: client, actor: actor.isEmpty ? nil : Text(actor), isRecall: request[4].count > 0,
            position: position)
    }

    /// What outlives the bytes.
    var kept: PeerCall { PeerCall(number: number, ForwardedCall(words.map { Array($0.bytes) }, from: origin)) }
}

/// Says how far a partition goes: the server that it is sent to answers null once it has read as far.
struct PeerAnnouncement {
    /// Whose answer it is, as that of a call.
    var number: Int64
    var partition: Int
    var position: Int64

    init(number: Int64, partition: Int, position: Int64) {
        self.number = number
        self.partition = partition
        self.position = position
    }

    /// The announcement in a request; nil where there is none. It has fewer words than any call.
    init?(_ request: Arguments) {
        guard request.count == 3, let number = request[0].integer,
            let partition = request[1].integer.flatMap(Int.init(exactly:)), let position = request[2].integer
        else { return nil }
        self.init(number: number, partition: partition, position: position)
    }

    /// As a request.
    func write(to writer: inout RequestWriter) {
        writer.begin(3)
        for value in [number, Int64(partition), position] { writer.argument("\(value)") }
    }
}

/// What kind of answer a frame has. The numbers are part of the protocol.
private enum AnswerKind: Int64 {
    case null, integer, text, document, documents, failure
}

extension ReplyBuffer {
    /// The answer to a call.
    mutating func answer(_ number: Int64, _ result: Result<Answer, Failure>) {
        func begin(_ kind: AnswerKind, _ count: Int = 1) {
            array(2 + count)
            integer(number)
            integer(kind.rawValue)
        }
        switch result {
        case .success(.null): begin(.null, 0)
        case .success(.integer(let value)):
            begin(.integer)
            integer(value)
        case .success(.text(let text)):
            begin(.text)
            bulk(text)
        case .success(.document(let document)):
            begin(.document)
            bulk(document)
        case .success(.parts(let start, let end)):
            begin(.document)
            bulk(start, followedBy: end)
        case .success(.documents(let documents)):
            begin(.documents, documents.count)
            for document in documents { bulk(document) }
        case .failure(let failure):
            begin(.failure, 2)
            bulk(failure.code.word)
            bulk(failure.message)
        }
    }

    /// Says that the server is there, while calls take long.
    mutating func pulse() { array(0) }

    /// Says that the server stops: it answers what it has been given, and wants no more.
    mutating func farewell() {
        array(1)
        null()
    }
}

/// What a server sends to one whose calls it carries out.
enum PeerReply {
    case pulse
    case farewell
    case answer(number: Int64, Result<Answer, Failure>)

    /// What a frame says; nil where it says nothing.
    init?(_ reply: Reply) {
        guard case .array(let values) = reply else { return nil }
        guard !values.isEmpty else {
            self = .pulse
            return
        }
        guard values != [.null] else {
            self = .farewell
            return
        }
        guard values.count >= 2, case .integer(let number) = values[0], case .integer(let kind) = values[1],
            let kind = AnswerKind(rawValue: kind), let result = PeerReply.result(kind, values[2...])
        else { return nil }
        self = .answer(number: number, result)
    }

    private static func result(_ kind: AnswerKind, _ values: ArraySlice<Reply>) -> Result<Answer, Failure>? {
        switch (kind, values.count, values.first) {
        case (.null, 0, _): return .success(.null)
        case (.integer, 1, .integer(let value)?): return .success(.integer(value))
        case (.text, 1, let value?): return value.string.map { .success(.text($0)) }
        case (.document, 1, .bulk(let document)?): return .success(.document(document))
        case (.documents, _, _):
            var documents: [[UInt8]] = []
            for value in values {
                guard case .bulk(let document) = value else { return nil }
                documents.append(document)
            }
            return .success(.documents(documents))
        case (.failure, 2, let word?):
            guard let code = word.string.flatMap(Failure.Code.init(word:)), let message = values.last?.string else {
                return nil
            }
            return .failure(Failure(code, message))
        default: return nil
        }
    }
}
