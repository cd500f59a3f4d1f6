// How servers of one log talk to each other: calls one way, answers the other, each with the number of its call. Answers
// come in any order, so nobody waits for a call that takes long.
//
// A call is an array of bulk strings, as every request of the line protocol; an answer is an array of RESP3. Both ends
// are the same version of Tiffin or one that understands it: a server ends a connection on which it finds anything else.

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

    /// As a request. What it begins with has as many words in every call, but for the confinement.
    func write(to writer: inout RequestWriter) {
        let confinement = call.confinement?.words ?? []
        let head = [
            "\(number)", "\(call.client)", "\(call.caller.number)", "\(call.rights.rawValue)",
            call.isRecall ? "recall" : "", call.actor.map(\.description) ?? "", "\(confinement.count)",
        ]
        writer.write((head + confinement).map { Array($0.utf8) } + call.words)
    }

    /// The call in a request; nil where there is none.
    init?(_ request: Arguments) {
        let fixed = 7
        guard request.count > fixed, let number = request[0].integer, let client = request[1].integer,
            let caller = request[2].integer, let rights = request[3].integer.flatMap(UInt8.init(exactly:)),
            let actor = request[5].string, let count = request[6].integer, (0...Int64(request.count)).contains(count),
            let words = request.call(behind: fixed + Int(count))
        else { return nil }
        let confinement = (fixed..<fixed + Int(count)).map { request[$0].string ?? "" }
        self.number = number
        call = ForwardedCall(
            words: words.map { Array($0.bytes) }, rights: Rights(rawValue: rights),
            confinement: Confinement(words: confinement), caller: Caller(number: Int(caller)), client: client,
            actor: actor.isEmpty ? nil : Text(actor), isRecall: request[4].count > 0)
        // What cannot be read must not free the caller.
        if count > 0, call.confinement == nil { return nil }
    }

    init(number: Int64, _ call: ForwardedCall) {
        self.number = number
        self.call = call
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
}

/// What a server sends to one whose calls it carries out.
enum PeerReply {
    case pulse
    case answer(number: Int64, Result<Answer, Failure>)

    /// What a frame says; nil where it says nothing.
    init?(_ reply: Reply) {
        guard case .array(let values) = reply else { return nil }
        guard !values.isEmpty else {
            self = .pulse
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
