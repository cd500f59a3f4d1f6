import LineProtocol
import Testing
import TextFormats
import Users

@testable import ModelContext

/// A client of a session: it counts its requests.
private struct Conversation {
    var session: ModelSession

    init(as role: Role = .customer) {
        var number = 0
        session = ModelSession(of: role, customer: "anna") {
            number += 1
            return "\(number)"
        }
    }

    mutating func receive(_ line: String) -> ModelSession.Step { session.receive(Array(line.utf8)) }

    /// What is answered to a line without asking a server.
    mutating func answer(to line: String) -> String {
        guard case .answer(let bytes) = receive(line) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The command of a call; nil where it is refused.
    mutating func question(_ tool: String, _ arguments: String = "{}") -> ModelSession.Question? {
        let line =
            #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
        guard case .ask(let question) = receive(line) else { return nil }
        return question
    }

    mutating func call(_ tool: String, _ arguments: String = "{}", replying reply: Reply?) -> String {
        guard let question = question(tool, arguments) else {
            return answer(
                to:
                    #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
            )
        }
        return String(decoding: session.answer(to: question, reply), as: UTF8.self)
    }
}

@Suite struct ModelSessionTests {
    @Test("A client is welcomed, and a notification is not answered")
    func welcome() {
        var conversation = Conversation()
        let answer = conversation.answer(
            to: #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)
        #expect(
            answer.hasPrefix(
                #"{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}"#))
        #expect(conversation.answer(to: #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).isEmpty)
        #expect(
            conversation.answer(to: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
                == #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }

    @Test(
        "What is no request is an error",
        arguments: [
            ("{", -32700), ("[]", -32600), (#"{"id":1}"#, -32600), (#"{"id":1,"method":"resources/list"}"#, -32601),
            (#"{"id":1,"method":"tools/call","params":{"name":"drop_table"}}"#, -32602),
            (#"{"id":1,"method":"tools/call","params":{"name":"get_cart","arguments":[]}}"#, -32602),
        ])
    func errors(line: String, code: Int) {
        var conversation = Conversation()
        #expect(conversation.answer(to: line).contains(#""code":\#(code)"#))
    }

    @Test("A role has the tools that it may use")
    func roles() {
        func names(_ role: Role) -> [String] { Tool.all.filter { $0.isFor(role) }.map(\.name) }
        #expect(names(.customer).contains("place_order") && !names(.customer).contains("accept_order"))
        #expect(names(.merchant).contains("accept_order") && !names(.merchant).contains("place_order"))
        #expect(names(.auditor).contains("read_log") && !names(.auditor).contains("cancel_order"))
        #expect(names(.admin).count == Tool.all.count)
    }

    @Test("Arguments become the words of a command, and a write has an id")
    func words() {
        var conversation = Conversation()
        #expect(
            conversation.question("search_items", #"{"text":"TAG","open":true,"limit":2,"city":null}"#)?.words
                == ["BROWSE", "TEXT", "=TAG", "OPEN", "LIMIT", "2"])
        #expect(
            conversation.question("add_to_cart", #"{"outlet":"o","item":"pie","quantity":2,"note":"no peas"}"#)?.words
                == ["CART.ADD", "anna-1", "o", "pie", "2", "NOTE", "no peas", "CUSTOMER", "anna", "ID", "2"])
        #expect(
            conversation.question("cancel_order", #"{"order":"1","code":"CUSTOMER"}"#)?.words
                == ["ORDER.CANCEL", "1", "CODE", "CUSTOMER", "BY", "customer", "ID", "3"])
    }

    @Test(
        "Arguments that a tool does not take are refused",
        arguments: [
            #"{"outlet":"o","item":"pie"}"#, #"{"outlet":"o","item":"pie","quantity":"2"}"#,
            #"{"outlet":"o","item":"pie","quantity":2,"cart":"somebody-1"}"#,
        ])
    func wrongArguments(arguments: String) {
        var conversation = Conversation()
        let answer = conversation.call("add_to_cart", arguments, replying: .integer(1))
        #expect(answer.contains("INVALID") && answer.contains(#""isError":true"#))
    }

    @Test("An order is placed only for a quote that was shown, and once")
    func quotes() {
        var conversation = Conversation()
        let order = Reply.bulk(Array("order-1".utf8))
        #expect(conversation.call("place_order", #"{"quote":"d1"}"#, replying: order).contains("STATE no quote"))
        #expect(conversation.call("place_order", replying: order).contains("INVALID quote: is missing"))
        #expect(
            conversation.call("get_quote", replying: .bulk(Array(#"{"total":5,"quote":"d1"}"#.utf8))).contains(
                #""total":5"#))
        #expect(
            conversation.question("place_order", #"{"quote":"d1"}"#)?.words
                == ["CART.CHECKOUT", "anna-1", "QUOTE", "d1", "CUSTOMER", "anna", "ID", "2"])
        let placed = conversation.call("place_order", #"{"quote":"d1"}"#, replying: order)
        #expect(placed.contains(#""structuredContent":{"order":"order-1"}"#))
        // It is the same order, and the next cart is another one.
        #expect(conversation.question("place_order", #"{"quote":"d1"}"#)?.words == nil)
        #expect(conversation.call("place_order", #"{"quote":"d1"}"#, replying: nil) == placed)
        #expect(conversation.question("get_cart")?.words == ["CART.GET", "anna-4"])
        #expect(conversation.call("place_order", #"{"quote":"d2"}"#, replying: order).contains("STATE no quote"))
    }

    @Test("A refusal and silence are errors of the tool, with the code in front")
    func refusals() {
        var conversation = Conversation()
        let refused = conversation.call(
            "get_cart", replying: .error(code: "UNAVAILABLE", message: "nothing was accepted"))
        #expect(refused.contains(#""text":"UNAVAILABLE nothing was accepted""#) && refused.contains(#""isError":true"#))
        #expect(conversation.call("get_cart", replying: nil).contains(#""text":"UNKNOWN"#))
        #expect(conversation.call("get_cart", replying: .null).contains(#""text":"null""#))
    }
}
