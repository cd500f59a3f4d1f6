import Foundation
import LineProtocol
import OracleScene
import Testing

@testable import LoadOracle

@Suite("The oracle of items")
struct OracleItemTests {
    /// An item of an outlet, of which customers ask what has changed.
    private final class Scene {
        let trial: Trial
        let item: Int

        init(item: Int = 3) throws {
            trial = try Trial(outlets: 1, items: 24)
            self.item = item
        }

        var document: [String: Any] { trial.server.document(0, item) ?? [:] }

        func get(_ since: String? = nil) -> Call { .item(outlet: 0, item: item, since: since) }

        /// A change, as it is answered `SINCE` a digest.
        func change(from: String?, to: String, _ patch: [[String: Any]]) -> Reply {
            var change: [String: Any] = ["to": to, "patch": patch]
            change["from"] = from ?? NSNull()
            return .bulk(RightServer.bytes(change))
        }

        func whole(_ digest: String, _ document: [String: Any]? = nil) -> Reply {
            change(from: nil, to: digest, [["op": "replace", "path": "", "value": document ?? self.document]])
        }

        func price(_ price: Int64, from: String?, to: String) -> Reply {
            change(from: from, to: to, [["op": "replace", "path": "/price", "value": price]])
        }

        func expectHeld(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) throws {
            try trial.expectHeld(call, reply, place)
        }

        /// Expects that each reply is a mistake, and that the customer does not go on from it.
        func expectViolations(_ since: String, _ replies: Reply..., place: SourceLocation = #_sourceLocation) {
            for reply in replies {
                let kept = trial.customer.item
                trial.expectViolation(get(since), reply, place)
                #expect(trial.customer.item == nil, sourceLocation: place)
                trial.customer.item = kept
            }
        }
    }

    @Test("finds an item that is not what its owner made of it, whichever field differs")
    func fields() throws {
        let scene = try Scene()
        try scene.expectHeld(scene.get(), .bulk(RightServer.bytes(scene.document)))
        for key in scene.document.keys {
            for value: Any? in ["another", 7, nil] {
                var wrong = scene.document
                wrong[key] = value
                scene.trial.expectViolation(scene.get(), .bulk(RightServer.bytes(wrong)))
                scene.trial.expectViolation(scene.get("0"), scene.whole("a1", wrong))
            }
        }
        scene.trial.expectViolation(scene.get(), .null)
        scene.trial.expectViolation(scene.get(), .bulk(Array("{".utf8)))
    }

    @Test("accepts what has changed since a digest, and null as long as nothing has")
    func changes() throws {
        let scene = try Scene()
        try scene.expectHeld(scene.get("0"), scene.whole("a1"))
        #expect(scene.trial.customer.item?.digest == "a1")
        try scene.expectHeld(scene.get("a1"), .null)
        try scene.trial.own(.price(outlet: 0, item: 3, minor: 7))
        try scene.expectHeld(scene.get("a1"), scene.price(7, from: "a1", to: "b2"))
        #expect(scene.trial.customer.item?.digest == "b2")
        // The server need not know the old document any more.
        try scene.trial.own(.suspend(outlet: 0, item: 3))
        try scene.expectHeld(scene.get("b2"), scene.whole("c3"))
        // A change that is under way may have been made, or not.
        try scene.trial.observe(.changeSent(.resume(outlet: 0, item: 3)))
        try scene.expectHeld(scene.get("c3"), .null)
        try scene.expectHeld(
            scene.get("c3"),
            scene.change(from: "c3", to: "b2", [["op": "replace", "path": "/available", "value": true]]))
    }

    @Test("finds null for an item that has changed, or that was never given under the digest")
    func wrongNull() throws {
        let scene = try Scene()
        scene.expectViolations("0", .null)
        try scene.expectHeld(scene.get("0"), scene.whole("a1"))
        scene.expectViolations("a2", .null)
        try scene.trial.own(.price(outlet: 0, item: 3, minor: 7))
        scene.expectViolations("a1", .null)
        // The document of another item is not this one's.
        scene.trial.expectViolation(.item(outlet: 0, item: 4, since: "a1"), .null)
    }

    @Test("finds changes that do not lead from the old document to the item as it is")
    func wrongChanges() throws {
        let scene = try Scene()
        try scene.expectHeld(scene.get("0"), scene.whole("a1"))
        try scene.trial.own(.price(outlet: 0, item: 3, minor: 7))
        let right: [String: Any] = ["op": "replace", "path": "/price", "value": 7]
        scene.expectViolations(
            "a1", scene.price(8, from: "a1", to: "b2"), scene.price(7, from: "a0", to: "b2"),
            scene.price(7, from: nil, to: "b2"), scene.price(7, from: "a1", to: "a1"),
            scene.change(from: "a1", to: "b3", []),
            scene.change(from: "a1", to: "b4", [right, ["op": "remove", "path": "/nothing"]]),
            scene.change(from: "a1", to: "b5", [right, ["op": "replace", "path": "/name", "value": "Pie"]]),
            scene.change(from: nil, to: "b6", [["op": "replace", "path": "", "value": NSNull()]]),
            .bulk(RightServer.bytes(scene.document)), .bulk(Array("[]".utf8)), .integer(1))
        try scene.expectHeld(scene.get("a1"), scene.price(7, from: "a1", to: "c1"))
    }

    @Test("finds a digest of two documents, and a document of two digests, whoever reads them")
    func digests() throws {
        let scene = try Scene()
        let other = Call.item(outlet: 0, item: 4, since: "0")
        let document = try #require(scene.trial.server.document(0, 4))
        try scene.expectHeld(scene.get("0"), scene.whole("a1"))
        scene.trial.expectViolation(other, scene.whole("a1", document))
        try scene.expectHeld(other, scene.whole("a2", document))
        scene.expectViolations("0", scene.whole("a3"))
        #expect(throws: Violation.self) { try scene.trial.judge(scene.get("0"), scene.whole("a3"), of: 1) }
        #expect(throws: Never.self) { try scene.trial.judge(scene.get("0"), scene.whole("a1"), of: 1) }
    }

    @Test("knows an item that is off the menu by a digest, too")
    func offTheMenu() throws {
        let scene = try Scene(item: 24)
        let nothing = scene.change(from: nil, to: "n0", [["op": "replace", "path": "", "value": NSNull()]])
        try scene.expectHeld(scene.get(), .null)
        try scene.expectHeld(scene.get("0"), nothing)
        try scene.expectHeld(scene.get("n0"), .null)
        try scene.trial.own(.list(outlet: 0, item: 24, before: nil))
        scene.expectViolations("n0", .null)
        try scene.expectHeld(
            scene.get("n0"),
            scene.change(from: "n0", to: "a1", [["op": "replace", "path": "", "value": scene.document]]))
        try scene.trial.own(.unlist(outlet: 0, item: 24))
        scene.expectViolations("a1", .null)
        try scene.expectHeld(scene.get("a1"), nothing)
    }

    @Test("is recorded with its digest")
    func recording() throws {
        let world = try Scene().trial.world
        for since in [nil, "0", "a1"] {
            let call = Call.item(outlet: 0, item: 3, since: since)
            #expect(Call(recorded: call.recorded(world), world) == call)
        }
        let id = world.outlets[0].id
        for words in [["SINCE"], ["AFTER", "0"], ["SINCE", "0", "1"]] {
            #expect(Call(recorded: ["ITEM.GET", id, "i3"] + words, world) == nil)
        }
    }
}
