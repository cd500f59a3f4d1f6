internal import CommandHandling
internal import Domain
internal import EventLog
internal import Projections
internal import TextFormats
internal import Users

/// What outlets, and the platform that they sell on, take off prices.
enum PromotionCommands {
    static let all: [Command] = [
        Command(
            "PROMO.PUT", .catalogue, role: .merchant, effect: .write(.promotions), "Adds or changes a promotion."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let id = parameters.required("promotion", .identifier)
            let json = parameters.required("json", .document(PromotionInput.self))
            return { service, call throws(Failure) in
                let (outlet, id, input) = (try call[outlet], try call[id], try call[json])
                guard input.id ?? id == id else { throw .invalid("id", "is not the promotion's id") }
                guard try service.outlet(outlet) != nil else { throw .noOutlet(outlet) }
                return try service.submit(StreamName(.promotions, outlet), call) { _, _ in
                    .promotions(.put(input.promotion(id)))
                }
            }
        },
        Command("PROMO.END", .catalogue, role: .merchant, effect: .write(.promotions), "Ends a promotion.") {
            parameters in
            let outlet = parameters.required("outlet", .outlet)
            let id = parameters.required("promotion", .identifier)
            return { service, call throws(Failure) in
                let (outlet, id) = (try call[outlet], try call[id])
                guard try service.outlet(outlet) != nil else { throw .noOutlet(outlet) }
                return try service.submit(StreamName(.promotions, outlet), call) { _, _ in .promotions(.end(id)) }
            }
        },
        Command(
            "PROMO.GET", .catalogue, role: .merchant, answers: PromotionsDocument.schema.orNull,
            "Returns an outlet's promotions, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                let outlet = try call[outlet]
                return .answer(
                    Answer(
                        try service.outlet(outlet).map {
                            PromotionsDocument.bytes(of: $0) { service.taken($0, at: outlet) }
                        }))
            }
        },
    ]
}
