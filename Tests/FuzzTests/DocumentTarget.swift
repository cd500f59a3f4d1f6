import Domain
import EventLog

@testable import Application

/// A document of a merchant's is refused with a code that says so, or leads to events that can have happened and that
/// are read as they are written. The first byte says which command it is for.
enum DocumentTarget {
    /// For documents that have none.
    private static let id = Identifier("a")!

    static func check(_ input: [UInt8]) throws {
        guard let command = input.first else { return }
        do throws(Failure) {
            try Array(input.dropFirst()).withUnsafeBufferPointer { bytes throws(Failure) in
                try put(UnsafeRawBufferPointer(bytes), command)
            }
        } catch {
            try promise([.invalid, .limit].contains(error.code), "\(error.code.word) \(error.message)")
        }
    }

    private static func put(_ bytes: UnsafeRawBufferPointer, _ command: UInt8) throws(Failure) {
        switch command % 4 {
        case 0:
            let details = try DocumentInput.decode(OutletInput.self, from: bytes).details
            try decide(Outlet.self, [.put(details), .put(details)], DomainEvent.outlet)
        case 1:
            let document = try DocumentInput.decode(MenuInput.self, from: bytes).document
            let reversed = MenuDocument(sections: document.sections.reversed())
            try decide(Menu.self, [.put(document), .put(reversed)], DomainEvent.menu)
        case 2:
            let input = try DocumentInput.decode(SectionInput.self, from: bytes)
            try decide(Menu.self, [.putSection(input.header(input.id ?? id), before: nil)], DomainEvent.menu)
        default:
            let input = try DocumentInput.decode(ItemInput.self, from: bytes)
            let section = SectionHeader(id: id, title: "S", kind: "menuItems", layout: .list)
            try decide(
                Menu.self,
                [.putSection(section, before: nil), .putItem(input.item(input.id ?? id), section: id, before: nil)],
                DomainEvent.menu)
        }
    }

    private static func decide<Aggregate: Decider>(
        _ aggregate: Aggregate.Type, _ commands: [Aggregate.Command], _ event: (Aggregate.Event) -> DomainEvent
    ) throws(Failure) {
        var state = Aggregate.initial
        for command in commands {
            let decided: [Aggregate.Event]
            do throws(Rejection) {
                decided = try Aggregate.decide(command, in: state)
            } catch {
                throw Failure(error)
            }
            for decided in decided {
                let (kind, payload) = EventCodec.encode(event(decided))
                guard (try? Aggregate.evolve(&state, decided)) != nil else {
                    throw Failure(.corrupt, "an event that was decided cannot happen")
                }
                guard (try? EventCodec.decode(kind, payload)) == event(decided) else {
                    throw Failure(.corrupt, "an event is not read as it was written")
                }
            }
        }
    }
}
