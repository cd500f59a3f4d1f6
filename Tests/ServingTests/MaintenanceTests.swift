import Domain
import EventLog
import EventLoop
import Testing

@testable import Application
@testable import Serving

/// What admins do beside the log.
@Suite struct MaintenanceTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func with(_ body: @LoopActor (Server) async throws -> Void) async throws {
        let log = InMemoryEventLog()
        let service = try await Server(
            configuration: Configuration(), log: log, history: log, keys: InMemoryCustomerKeys(), store: nil,
            logger: Logger(level: .error)
        ) { Timestamp(millisecondsSinceEpoch: 1) }
        service.start()
        try await body(service)
        await service.stop()
    }

    /// The answer to a command; the code and the message where it fails.
    @LoopActor
    private static func answer(_ service: Server, _ words: String...) async -> String {
        do throws(Failure) {
            switch try await service.perform(words.map { Array($0.utf8) }) {
            case .null: return "null"
            case .integer(let number): return "\(number)"
            case .text(let text): return text
            case .document(let document): return String(decoding: document, as: UTF8.self)
            case .parts(let start, let end): return String(decoding: start, as: UTF8.self) + end
            case .documents(let documents): return "\(documents.count) documents"
            }
        } catch {
            return "\(error.code.word) \(error.message)"
        }
    }

    @Test(.timeLimit(.minutes(1))) @LoopActor func `A forgotten customer's texts are erased, and nobody else's`()
        async throws
    {
        try await Self.with { service in
            let menu =
                #"{"sections":[{"id":"s","title":"S","kind":"menuItems","items":["#
                + #"{"id":"tea","kind":"menuItem","name":"Tea","price":250}]}]}"#
            for words in [
                ["OUTLET.PUT", "o", #"{"name":"O","currency":"INR","timeZone":"Asia/Kolkata"}"#],
                ["MENU.PUT", "o", menu], ["OUTLET.OPEN", "o"],
            ] { _ = try await service.perform(words.map { Array($0.utf8) }) }
            for customer in ["asha", "ben"] {
                let count = await Self.answer(
                    service, "CART.ADD", "of-\(customer)", "o", "tea", "1", "NOTE", "hot", "CUSTOMER", customer)
                #expect(count == "1")
            }
            #expect(
                await Self.answer(service, "CUSTOMER.FORGET", "carla", "asha")
                    == #"{"customers":[{"customer":"asha","destroyedKeys":1,"forgottenBefore":null},"#
                    + #"{"customer":"carla","destroyedKeys":0,"forgottenBefore":null}],"remainder":null}"#)
            #expect(await Self.answer(service, "CART.GET", "of-asha").contains(#""note":"[erased]""#))
            #expect(await Self.answer(service, "CART.GET", "of-ben").contains(#""note":"hot""#))
            #expect(
                await Self.answer(service, "CART.ADD", "new", "o", "tea", "1", "CUSTOMER", "carla")
                    .hasPrefix("FORGOTTEN "))
            #expect(
                await Self.answer(service, "CUSTOMER.FORGET", "asha")
                    .contains(#""destroyedKeys":0,"forgottenBefore":"1970-"#))
        }
    }

    @Test(.timeLimit(.minutes(1))) @LoopActor func `What cannot be meant is refused, and nobody is forgotten`()
        async throws
    {
        try await Self.with { service in
            #expect(
                await Self.answer(service, "CUSTOMER.FORGET", "asha", "not an id")
                    .hasPrefix("INVALID customer: must be"))
            let many = ["CUSTOMER.FORGET"] + (0...MaintenanceCommands.maximumCustomers).map { "c\($0)" }
            await #expect(throws: Failure.self) { try await service.perform(many.map { Array($0.utf8) }) }
            #expect(
                await Self.answer(service, "CUSTOMER.FORGET", "asha").contains(#""forgottenBefore":null"#))
            #expect(
                await Self.answer(service, "PROJECTION.REBUILD", "catalogue")
                    == "INVALID projection: must be one of outlet_home, cart_counts, orders, takings, supply, processes"
            )
            #expect(await Self.answer(service, "PROJECTION.REBUILD", "orders").hasPrefix("UNAVAILABLE "))
        }
    }
}
