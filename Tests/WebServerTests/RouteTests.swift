import Application
import CallArguments
import Domain
import EventLoop
import Testing
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
            case .filters: request.query += [("text", "open pie"), ("limit", "3")]
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
        let others = ["ID", "VERSION", "CUSTOMER", "CART", "NAME", "WAIT", "FLOW", "ACTOR"]
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
            #expect(isReading == (route.method == "GET"), "\(route.method) \(route.path)")
        }
    }

    @Test func `At the store, what a command is about is never named by a path but for outlets, items and orders`() {
        for route in Route.all where route.sites.contains(.store) {
            let named = route.parameters.filter { $0.place == .path }.map(\.name)
            #expect(Set(named).isSubset(of: ["outlet", "item", "line", "order"]))
            let isForCustomers = [.customer, .anybody, .parties].contains(route.command.declaration.role)
            #expect(isForCustomers != route.isAboutOneself, "what a visitor may do only to itself has no parameter")
        }
    }

    private func words(_ query: String) throws -> String {
        var items = query.split(separator: "&").map { part in
            let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        return try FilterKeys.words(&items).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
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
        "attr=1",
        "cuisine.1=a", "tag.x=a", "not.=1", "not.sort=name", "=1",
    ])
    func `What is no filter is refused`(_ query: String) {
        #expect(throws: Failure.self) { try words(query) }
    }
}
