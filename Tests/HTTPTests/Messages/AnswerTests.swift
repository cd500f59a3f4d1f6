import Testing

@testable import HTTP

@Suite struct `Writing HTTP answers` {
    private func text(_ answer: HTTPAnswer, keepsAlive: Bool = true, isHead: Bool = false) -> String {
        var bytes: [UInt8] = []
        answer.write(to: &bytes, date: "now", keepsAlive: keepsAlive, isHead: isHead)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `An answer says how long its body is, also without it`() {
        let answer = HTTPAnswer(.ok, fields: [("ETag", "W/\"1\"")], body: Array("{\"a\":1".utf8)[...], end: "}")
        #expect(text(answer) == "HTTP/1.1 200 OK\r\nDate: now\r\nETag: W/\"1\"\r\nContent-Length: 7\r\n\r\n{\"a\":1}")
        #expect(
            text(answer, keepsAlive: false, isHead: true)
                == "HTTP/1.1 200 OK\r\nDate: now\r\nConnection: close\r\nETag: W/\"1\"\r\nContent-Length: 7\r\n\r\n")
    }

    @Test func `What has not changed has no body`() {
        #expect(
            text(HTTPAnswer(.notModified, body: [1, 2, 3])) == "HTTP/1.1 304 Not Modified\r\nDate: now\r\n\r\n")
    }

    @Test func `A value cannot begin another field`() {
        let answer = HTTPAnswer(.noContent, fields: [("Location", "/a\r\nSet-Cookie: x")])
        #expect(text(answer) == "HTTP/1.1 204 No Content\r\nDate: now\r\nLocation: /a  Set-Cookie: x\r\n\r\n")
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func `Dates are those of RFC 9110`(_ seconds: Int64, _ text: String) {
        #expect(HTTPDate.text(secondsSinceEpoch: seconds) == text)
    }

    @Test(arguments: [
        ("W/\"a-1\"", true), ("\"a-1\"", true), ("*", true), (" \"b\" , W/\"a-1\"\t", true), ("W/\"a-11\"", false),
        ("a-1", false), ("", false), ("\"A-1\"", false),
    ])
    func `A client that has the document names its tag`(_ condition: String, _ isNamed: Bool) {
        #expect(EntityTag("a-1").isNamed(in: condition) == isNamed)
    }

    @Test(arguments: [
        ("{\"a\":1}", "event: cart\ndata: {\"a\":1}\n\n"), ("", "event: cart\ndata: \n\n"),
        ("a\nb\r\nc\rd", "event: cart\ndata: a\ndata: b\ndata: c\ndata: d\n\n"),
    ])
    func `No data can end an event, or begin another`(_ data: String, _ frame: String) {
        #expect(String(decoding: EventStream.frame("cart", Array(data.utf8)), as: UTF8.self) == frame)
    }

    @Test func `Paths are cut before they are decoded`() {
        #expect(FormText.segments(ofPath: "/o/a%2Fb/") == ["o", "a/b", ""])
        #expect(FormText.segments(ofPath: "/") == [""])
        #expect(FormText.segments(ofPath: "/a+b/%e0%b6%9a") == ["a+b", "ක"])
        for path in ["/%", "/%2", "/%zz", "/%ff", "/%c0%af"] { #expect(FormText.segments(ofPath: path) == nil) }
    }

    @Test func `Queries are decoded as forms write them`() throws {
        let items = try #require(FormText.items(ofQuery: "text=fish+pie%2B&&open&a==b&%C3%A9="))
        #expect(items.map(\.name) == ["text", "open", "a", "é"])
        #expect(items.map(\.value) == ["fish pie+", "", "=b", ""])
        #expect(FormText.items(ofQuery: "a=%4") == nil)
    }

    @Test(arguments: [
        ("a=1; b=2", "b", "2"), ("bb=1; b=2", "b", "2"), ("b=1; b=2", "b", nil), ("a=1", "b", nil), ("b", "b", nil),
        ("b==", "b", "="),
    ])
    func `A cookie that is there twice is none`(_ field: String, _ name: String, _ value: String?) {
        #expect(Cookies.value(of: name, in: field) == value)
    }
}
