import Domain
import Testing

/// Which texts are addresses that a client can show or follow.
@Suite struct WebAddressTests {
    private typealias Specification = DeciderSpecification<Menu>

    private func put(_ url: Text) -> DeciderSpecification<Menu> {
        let item = MenuItem.sample("tea").with(\.links, [ItemLink(rel: "source", url: url)])
        return Specification.given([.sectionAdded(.sample("lunch"), before: nil)])
            .when(.putItem(item, section: "lunch", before: nil))
    }

    @Test(
        arguments: [
            "https://example.com", "http://example.com/a.jpg?b=c#d", "HTTPS://EXAMPLE.com:8443/", "https://[::1]:80/a",
            "https://127.0.0.1/a", "https://пример.рф/é", "https://a_b.example/@x", "https://a?b@c", "/",
            "/a/b.jpg?c=d",
            "/a//b", "/javascript:x", "/~a/%20;b,c!'()*$&+=",
        ] as [Text])
    func `an address by http or https, or a path, is accepted`(_ url: Text) {
        let item = MenuItem.sample("tea").with(\.links, [ItemLink(rel: "source", url: url)])
        put(url).then([.itemAdded(item, section: "lunch", before: nil)])
    }

    @Test(
        arguments: [
            "javascript:alert(1)", "JavaScript://a/%0aalert(1)", "data:text/html,x", "ftp://a/b", "file:///etc/passwd",
            "https:", "https:/a", "https://", "https:///a", "https://?a", "https://:80", "https://me@a",
            "https://me:x@a/",
            "https://a b", "https://a\\b", "//a/b", "a/b.jpg", "nonsense", "example.com", "", " /a", "/a b", "/a\"b",
            "/<a>",
            "/a\u{7F}", "\u{1}https://a", "https ://a", "https\u{3A}a",
        ] as [Text])
    func `anything else is refused`(_ url: Text) {
        put(url).thenRejected(.invalid, naming: ["links[0].url:"])
    }

    @Test func `what was recorded before the rule can be folded, sold and repriced`() throws {
        let old = MenuItem.sample("tea").with(\.imageSmall, "tea.png").with(
            \.links, [ItemLink(rel: "x", url: "javascript:1")])
        let history: [Menu.Event] = [
            .sectionAdded(.sample("lunch"), before: nil), .itemAdded(old, section: "lunch", before: nil),
        ]
        #expect(try Menu.state(after: history).entries["tea"]?.item == old)
        Specification.given(history).when(.reprice("tea", 1)).then([.itemRepriced("tea", 1)])
        Specification.given(history).when(.putItem(old, section: "lunch", before: nil))
            .thenRejected(.invalid, naming: ["imageSmall:"])
    }
}
