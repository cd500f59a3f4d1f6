internal import Domain
internal import TextFormats

/// An outlet's `services`: `{"pickup":{…},"delivery":{…}}`. Their names have no order.
struct ServicesInput: InputValue {
    static var expectation: String { "an object" }

    let services: ByService<OfferedService>

    init?(input: JSONValue) throws(InputError) {
        let read: ByService<OfferedServiceInput>? = try ByService(input: input)
        guard let read else { return nil }
        var services = ByService<OfferedService>()
        for (kind, service) in read.list { services[kind] = service.service }
        self.services = services
    }
}

struct OfferedServiceInput: InputObject, Equatable, Sendable {
    static let members: [JSONSchema.Member] = [
        .optional("charges", ChargesInput.schema), .optional("minimumOrder", .money),
        .optional("prepMinutes", .integer),
        .optional("requires", .list(of: .words(of: OfferedService.Requirement.self))),
        .optional("hours", .list(of: HoursInput.schema)),
    ]

    let service: OfferedService

    init(_ fields: InputFields) throws(InputError) {
        let charges: ChargesInput? = try fields.optional("charges")
        let hours: [HoursInput]? = try fields.optional("hours")
        service = OfferedService(
            charges: charges?.charges, minimumOrder: try fields.optional("minimumOrder").map(Amount.init),
            prepMinutes: try fields.optional("prepMinutes"), requirements: try fields.optional("requires") ?? [],
            hours: hours?.map(\.hours))
    }
}

extension OfferedService.Requirement: InputValue {
    static var expectation: String { Text.expectation }

    init?(input: JSONValue) throws(InputError) {
        guard let name = Text(input: input) else { return nil }
        guard let requirement = OfferedService.Requirement(rawValue: name.string) else {
            let known = OfferedService.Requirement.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError("", "must be one of \(known)")
        }
        self = requirement
    }
}

/// Values by the names of services: `{"table":19000}`. Null is the same as absent.
extension ByService: InputValue where Value: InputValue {
    static var expectation: String { "an object" }

    init?(input: JSONValue) throws(InputError) {
        guard case .object(let members) = input else { return nil }
        self.init()
        for member in members {
            guard let service = ServiceKind(rawValue: member.key) else {
                let known = ServiceKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw InputError("", "must have no other names than \(known)")
            }
            if case .null = member.value { continue }
            do throws(InputError) {
                self[service] = try Value.read(member.value)
            } catch {
                throw error.within(member.key)
            }
        }
    }
}

/// What one of something costs where orders are had in some ways.
extension ByService<Amount> {
    init(_ prices: ByService<Int64>) {
        self.init()
        for (service, price) in prices.list { self[service] = Amount(minorUnits: price) }
    }
}
