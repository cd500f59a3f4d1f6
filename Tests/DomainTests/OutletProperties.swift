import Domain
import SeededRandom
import Testing

@Suite struct OutletProperties {
    @Test(arguments: SeededGenerator.seeds)
    func `applying the changes of a put gives the new details, and the same put changes nothing`(_ seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        var state = try Outlet.state(after: [.registered(OutletDetails.random(&random))])
        for _ in 0..<50 {
            let new = OutletDetails.random(&random)
            let events = try Outlet.decide(.put(new), in: state)
            #expect(events.count <= 1)
            state = try Outlet.state(after: events, from: state)
            #expect(state == .registered(new, .closed, isHidden: false))
            #expect(try Outlet.decide(.put(new), in: state) == [])
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a put records only what differs`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let old = OutletDetails.random(&random)
        let new = OutletDetails.random(&random)
        let state = Outlet.State.registered(old, .open, isHidden: false)
        for case .detailsChanged(let changes) in try Outlet.decide(.put(new), in: state) {
            for change in changes {
                #expect(try Outlet.state(after: [.detailsChanged([change])], from: state) != state)
            }
        }
    }
}

extension OutletDetails {
    fileprivate static func random(_ random: inout SeededGenerator) -> OutletDetails {
        OutletDetails(
            name: random.pick(["A", "B"]), city: random.maybe { $0.pick(["Pune", "Delhi"]) },
            area: random.maybe { $0.pick(["North", "South"]) }, address: random.maybe { _ in "1 High Street" },
            currency: .inr, timeZone: random.pick(["Asia/Kolkata", "UTC"]),
            cuisines: random.pick([[], ["Indian"], ["Indian", "Thai"], ["Thai", "Indian"]]),
            priceForTwo: random.maybe { _ in 40_000 },
            rating: random.maybe { Rating(hundredths: $0.pick([0, 440, 500]))! },
            ratingCount: random.maybe { $0.pick([0, 7]) }, deliveryMinutes: random.maybe { $0.pick([20, 45]) },
            minimumOrder: random.maybe { $0.pick([0, 100]) },
            hours: random.pick([[], [OpeningHours(day: .monday, opens: 600, closes: 1_500)!]]))
    }
}
