import Domain
import HTTP
import Testing
import Users

@testable import WebServer

@Suite struct `Visitors and pages` {
    @Test func `A cookie leads to the same visitor again, and nothing else does`() throws {
        let visitor = Visitor.random()
        let field = visitor.field.value
        #expect(field.hasPrefix("__Host-tiffin="))
        for attribute in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] { #expect(field.contains("; \(attribute)")) }
        let cookie = String(try #require(field.split(separator: ";").first))
        let again = try #require(Visitor(cookies: "a=b; \(cookie)"))
        #expect(again.id == visitor.id)
        #expect(again.cartID == visitor.cartID)
        #expect(again.next.id == visitor.id)
        #expect(again.next.cartID != visitor.cartID)
        #expect(Visitor.random().id != visitor.id)
        let value = cookie.dropFirst("__Host-tiffin=".count)
        for wrong in [
            "", "tiffin=\(value)", "\(cookie); \(cookie)", "\(cookie)0000000", "__Host-tiffin=\(value.dropFirst())",
            "__Host-tiffin=\(value.dropLast())0", "__Host-tiffin=\(value.uppercased())x", "__Host-tiffin=\(value)-1",
        ] {
            #expect(Visitor(cookies: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `A visitor may use what carries its id, and nothing of another`() {
        let (one, other) = (Visitor.random(), Visitor.random())
        let confinement = Confinement(ofCustomer: one.id)
        #expect(confinement.allows(one.cartID, as: .cart))
        #expect(confinement.allows(one.next.cartID, as: .cart))
        #expect(!confinement.allows(other.cartID, as: .cart))
        #expect(!confinement.allowsOrder(from: other.cartID, at: Identifier("copper-ladle")!))
        let nobody = Confinement(ofCustomer: Visitor.nobody)
        #expect(!nobody.allows(one.cartID, as: .cart))
        #expect(nobody.allowsCatalogue)
    }

    @Test func `The secret of a visitor is in no id`() {
        let visitor = Visitor.random()
        let secret = visitor.field.value.dropFirst("__Host-tiffin=".count).prefix(64)
        #expect(!"\(visitor.cartID)".contains(secret.prefix(8)))
    }

    @Test func `No text of a document can end it in a page`() throws {
        let page = try #require(Pages.all.first { $0.document != nil })
        let pages = Pages(WebAssets([(page.shell, Array("<p><!--document--></p>".utf8))]))
        let json = Array(#"{"name":"</script><script>alert(1)</script><!--"}"#.utf8)
        let html = String(decoding: pages.html(page, ("/v1/x", json)), as: UTF8.self)
        #expect(
            html == #"<p><script type="application/json" id="document" data-path="/v1/x">"#
                + #"{"name":"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--"}</script></p>"#)
        #expect(String(decoding: pages.html(page, nil), as: UTF8.self) == "<p></p>")
    }

    @Test(arguments: [
        ("gzip", true), ("br, GZIP;q=0.5", true), ("gzip;q=0", false), ("gzip; q=0.0", false), ("identity", false),
        ("", false), ("xgzip", false),
    ])
    func `Whoever takes gzip says so`(_ encodings: String, _ accepts: Bool) {
        #expect(WebServer.acceptsGzip(encodings) == accepts)
    }

    @Test(arguments: [
        ("localhost:7380", "localhost"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("a.b", "a.b"), ("a:", "a"),
    ])
    func `The name of a host is without its port`(_ host: String, _ name: String) {
        #expect(Guard.name(ofHost: host) == name)
    }

    static let requests: [(String, isStream: Bool, HTTPStatus?)] = [
        ("GET / HTTP/1.1\r\nHost: localhost:7380", false, nil),
        ("GET / HTTP/1.1\r\nHost: shop.example", false, nil),
        ("GET / HTTP/1.1\r\nHost: evil.example", false, .misdirected),
        ("GET / HTTP/1.1\r\nHost: localhost.evil.example", false, .misdirected),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site", false, nil),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site", true, .forbidden),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-site", true, .forbidden),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin", true, nil),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example", true, .forbidden),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1", false, nil),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: none", false, nil),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-site", false, .forbidden),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site", false, .forbidden),
        ("DELETE / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: x", false, .forbidden),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1", false, nil),
        ("POST / HTTP/1.1\r\nHost: shop.example\r\nOrigin: https://shop.example", false, nil),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:2", false, .forbidden),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: null", false, .forbidden),
        ("POST / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example", false, .misdirected),
        (
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\nOrigin: http://127.0.0.1", false,
            .forbidden
        ),
    ]

    @Test(arguments: requests) func `A page of another origin can do nothing`(
        _ head: String, _ isStream: Bool, _ status: HTTPStatus?
    ) {
        var parser = HTTPRequestParser()
        Array("\(head)\r\n\r\n".utf8).withUnsafeBytes { bytes in
            guard case .request(let request, _) = parser.next(bytes, within: HTTPLimits()) else {
                Issue.record("no request")
                return
            }
            #expect(Guard(hosts: ["shop.example"]).problem(with: request, isStream: isStream)?.status == status)
        }
    }
}
