import Application
import Catalogue
import Domain
import EventLoop
import Testing
import TextFormats
import Users

@testable import WebServer

@Suite struct `The table of routes` {
    @Test func `No two routes answer the same request`() {
        for route in Route.all {
            let same = Route.table.values(at: path(of: route)).filter {
                $0.method == route.method && !$0.sites.isDisjoint(with: route.sites)
            }
            #expect(same.count == 1 && same.first === route, "\(route.method) \(route.path)")
        }
    }

    private func path(of route: Route) -> [String] {
        PathTable<Route>.parts(of: route.path).map { $0.hasPrefix("{") ? "1" : $0 }
    }

    /// A request that has everything that the route takes.
    private func fullRequest(_ route: Route) -> Route.Request {
        var request = Route.Request(
            path: path(of: route), query: [], body: [], key: "key",
            cart: Identifier("web-1-1"), customer: Identifier("web-1"))
        var members: [String] = []
        for parameter in route.parameters {
            switch parameter.place {
            case .query: request.query.append((parameter.name, "1"))
            case .body: members.append("\"\(parameter.name)\":\(parameter.isInteger ? "1" : "\"1\"")")
            case .content: request.body = Array("{}".utf8)
            case .filters:
                request.query.append(("text", "open pie"))
                if route.path != "/v1/surprise" { request.query.append(("limit", "3")) }
            case .path, .cart, .customer: break
            }
        }
        if !members.isEmpty { request.body = Array("{\(members.joined(separator: ","))}".utf8) }
        if route.isWrite { request.query.append(("version", "3")) }
        return request
    }

    @Test(arguments: Route.all.indices) func `What a route makes of a request is a call of its command`(
        index: Int
    ) throws {
        let route = Route.all[index]
        let words = try route.words(of: fullRequest(route))
        try Arguments.with(words) { arguments in _ = try Call(route.command.declaration, arguments) }
        #expect(route.isWrite == words.contains(Array("ID".utf8)))
        // Whatever a command takes, its route takes, except for what the cookie says, and for waiting.
        let others = ["ID", "VERSION", "CUSTOMER", "CART", "WAIT", "FLOW", "ACTOR", "TRACE"]
        let known = Set(route.parameters.compactMap(\.token)).union(others)
        guard !route.parameters.contains(where: { $0.place == .filters }) else { return }
        let left = route.command.declaration.parameterDescriptions.compactMap(\.token).filter { !known.contains($0) }
        #expect(left.allSatisfy { $0 == "AT" && route.sites.contains(.store) }, "\(route.path): \(left)")
    }

    @Test(arguments: Route.all.indices) func `What a route does not know it refuses`(index: Int) {
        let route = Route.all[index]
        var request = fullRequest(route)
        request.query.append(("nonsense", "1"))
        #expect(throws: Failure.self) { try route.words(of: request) }
    }

    @Test func `A route writes only by a method that says so`() {
        for route in Route.all {
            let isReading = if case .read = route.command.declaration.effect { true } else { false }
            // A connection is closed also where nothing can be written.
            let ends = route.command.declaration.name == "CLIENT KILL"
            #expect((isReading && !ends) == (route.method == "GET"), "\(route.method) \(route.path)")
        }
    }

    @Test
    func `At the store, what a command is about is never named by a path but for outlets, items, codes and orders`() {
        for route in Route.all where route.sites.contains(.store) {
            let named = route.parameters.filter { $0.place == .path }.map(\.name)
            // What is proven to a visitor is an event of an order; what is signed is for everybody.
            let proven = ["LOG.PROVE": ["stream", "version"], "LOG.SIGNED": ["partition"]]
            #expect(
                Set(named).isSubset(
                    of: ["outlet", "item", "line", "code", "order"]
                        + proven[route.command.declaration.name, default: []]))
            let isForCustomers = [.customer, .anybody, .parties].contains(route.command.declaration.role)
            #expect(isForCustomers != route.isAboutOneself, "what a visitor may do only to itself has no parameter")
        }
    }

    private func words(_ query: String) throws -> String {
        var items = query.split(separator: "&").map { part in
            let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        let options = Set(CatalogueQuery.Option.allCases.map(\.rawValue))
        return try FilterKeys.words(&items, options: options).map { String(decoding: $0, as: UTF8.self) }.joined(
            separator: " ")
    }

    @Test(arguments: [
        ("text=open", "TEXT =open"), ("cuisine=thai&cuisine=lao", "CUISINE =thai =lao"),
        ("price=100,2000", "PRICE 100 2000"),
        ("rating=4,", "RATING 4 *"), ("rating=4", "RATING 4"), ("delivery=,30", "DELIVERY * 30"), ("open=1", "OPEN"),
        ("not.tag=a&tag=b", "NOT TAG =a TAG =b"), ("tag.1=a&tag.2=b", "TAG =a TAG =b"), ("not.open", "NOT OPEN"),
        ("attr.serves=2,4", "ATTR serves 2 4"), ("attr.serves=2", "ATTR serves ANY =2"),
        ("attr.bloodType=A&attr.bloodType=B,C", "ATTR bloodType ANY =A =B,C"), ("attr.a=,5", "ATTR a * 5"),
        (
            "sort=price&limit=5&facets=cuisines,attributes.serves",
            "SORT price LIMIT 5 FACETS cuisines attributes.serves"
        ),
        ("not.attr.a=x", "NOT ATTR a ANY =x"), ("limit=5&text=a", "TEXT =a LIMIT 5"),
    ])
    func `Filters are keys of the query`(_ query: String, _ expected: String) throws {
        #expect(try words(query) == expected)
    }

    @Test(arguments: [
        "nonsense=1", "TEXT=a", "price=a,b", "price=1,2,3", "price=", "price=,", "price=1&price=2", "open=maybe",
        "attr=1", "price=5",
        "cuisine.1=a", "tag.x=a", "not.=1", "not.sort=name", "=1",
    ])
    func `What is no filter is refused`(_ query: String) {
        #expect(throws: Failure.self) { try words(query) }
    }

    @Test func `An option of another route is none`() throws {
        let route = try #require(Route.all.first { $0.path == "/v1/surprise" })
        var request = fullRequest(route)
        request.query = [("limit", "3")]
        #expect(failure { _ = try route.words(of: request) } == "INVALID limit: is no filter and no option here")
    }

    // MARK: The words of errors

    private func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Failure).map { "\($0.code.word) \($0.message)" } ?? "\(error)"
        }
    }

    @Test(arguments: Route.all.indices) func `A value has its own type in a body, and only that`(index: Int) throws {
        let route = Route.all[index]
        for parameter in route.parameters where parameter.place == .body {
            let (wrong, reason) = parameter.isInteger ? ("\"1\"", "a whole number") : ("1", "a string")
            for value in [wrong, "true", "[]", "{}", "1.5"] {
                var request = fullRequest(route)
                let others = route.parameters.filter { $0.place == .body && $0.name != parameter.name }.map {
                    "\"\($0.name)\":\($0.isInteger ? "1" : "\"1\"")"
                }
                request.body = Array("{\((others + ["\"\(parameter.name)\":\(value)"]).joined(separator: ","))}".utf8)
                #expect(
                    failure { _ = try route.words(of: request) } == "INVALID \(parameter.name): must be \(reason)")
            }
        }
    }

    @Test(arguments: [("2", "2"), ("2.0", "2"), ("2e1", "20"), ("-0", "0")])
    func `A whole number may be spelt with a fraction`(text: String, word: String) throws {
        let route = try #require(Route.all.first { $0.path == "/v1/cart/tip" })
        var request = fullRequest(route)
        request.body = Array("{\"amount\":\(text)}".utf8)
        #expect(try route.words(of: request).contains(Array(word.utf8)))
    }

    @Test(arguments: Route.all.indices) func `All that a body lacks is named at once`(index: Int) {
        let route = Route.all[index]
        let required = route.parameters.filter { $0.place == .body && $0.isRequired }.map(\.name)
        guard let last = required.last else { return }
        var request = fullRequest(route)
        request.body = Array("{}".utf8)
        let expected =
            required.count == 1
            ? "\(last): is missing" : "body: lacks \(required.dropLast().joined(separator: ", ")) and \(last)"
        #expect(failure { _ = try route.words(of: request) } == "INVALID \(expected)")
    }

    @Test(arguments: Route.all.indices) func `Errors name what a request has by its names`(index: Int) {
        let route = Route.all[index]
        let words = HTTPWords(of: route)
        func told(_ message: String) -> String { words.saying(Failure(.invalid, message)).message }
        for parameter in route.parameters {
            guard let token = parameter.token else { continue }
            #expect(told("\(token): must be right") == "\(parameter.name): must be right")
            #expect(
                told("give '\(token)' or \(token), as \(token)X")
                    == "give '\(token)' or \(parameter.name), as \(token)X")
        }
        let fixed = route.parameters.filter { $0.token == nil && ![.content, .filters].contains($0.place) }
        let described = route.command.declaration.parameterDescriptions.filter { $0.token == nil }
        for (parameter, description) in zip(fixed, described) {
            #expect(told("\(description.name): must be right") == "\(parameter.name): must be right")
        }
        #expect(told("json: must be right") == "body: must be right")
    }

    @Test(arguments: [
        (
            Failure(.rejected(.state), "the cart is empty; allowed is CART.ADD"),
            "the cart is empty; allowed is POST /v1/cart/lines"
        ),
        (
            Failure(.rejected(.idMismatch), "ID 'tap-1' was used with other arguments"),
            "Idempotency-Key 'tap-1' was used with other arguments"
        ),
        (Failure(.notFound, "no item 'ID' in the menu"), "no item 'ID' in the menu"),
        (Failure.noPermissionForKey, "this is not yours to use"),
        (
            Failure(.invalid, "AT: must not lie in the future: it is 2026-03-01T12:00:00Z"),
            "at: must not lie in the future: it is 2026-03-01T12:00:00Z"
        ),
    ])
    func `Commands are routes, and texts of others stay`(failure: Failure, told: String) throws {
        let route = try #require(Route.all.first { $0.path == "/v1/cart/checkout" })
        #expect(HTTPWords(of: route).saying(failure).message == told)
    }
}
