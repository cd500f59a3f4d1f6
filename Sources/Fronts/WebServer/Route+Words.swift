internal import Application
internal import Catalogue
internal import Domain
internal import TextFormats

extension Route {
    /// What a request says, without its host, cookies and so on.
    struct Request {
        var path: [String]
        var query: [(name: String, value: String)]
        var body: [UInt8]
        /// The `Idempotency-Key`.
        var key: String?
        /// The `traceparent`; nil where it is none.
        var trace: TraceParent?
        /// The visitor's cart.
        var cart: Identifier?
        /// The visitor, as a customer; nil at the console.
        var customer: Identifier?
    }

    /// The words of the command that a request stands for.
    func words(of request: Request) throws(Failure) -> [[UInt8]] {
        var words = commandName
        var query = request.query
        let given = try members(of: request)
        var members = given
        let missing = parameters.filter { $0.place == .body && $0.isRequired && members[$0.name] == nil }.map(\.name)
        if missing.count > 1, let last = missing.last {
            throw Failure(.invalid, "body: lacks \(missing.dropLast().joined(separator: ", ")) and \(last)")
        }
        for parameter in parameters {
            let value: [UInt8]?
            switch parameter.place {
            case .path: value = parameter.part.map { Array(request.path[$0].utf8) }
            case .cart: value = request.cart.map { Array($0.rawValue.utf8) }
            case .content: value = request.body
            case .customer:
                let isGiven = parameter.companion.map { given[$0] != nil } ?? true
                value = isGiven ? request.customer.map { Array($0.rawValue.utf8) } : nil
            case .query:
                let visitor = parameter.isVisitor ? request.customer : nil
                value = try Route.take(parameter.name, from: &query) ?? visitor.map { Array($0.rawValue.utf8) }
            case .body: value = try members.removeValue(forKey: parameter.name).map(parameter.word)
            case .filters:
                words += try FilterKeys.words(&query, options: options)
                continue
            }
            guard let value else {
                guard !parameter.isRequired else { throw Failure(.invalid, "\(parameter.name): is missing") }
                continue
            }
            if let token = parameter.token { words.append(Array(token.utf8)) }
            words.append(value)
        }
        if isWrite {
            if let key = request.key { words += [Array("ID".utf8), Array(key.utf8)] }
            if let trace = request.trace { words += [Array("TRACE".utf8), Array(trace.description.utf8)] }
            if let version = try Route.take("version", from: &query) { words += [Array("VERSION".utf8), version] }
        }
        if let (name, _) = query.first { throw Route.unknown(name) }
        if let name = members.keys.min() { throw Route.unknown(name) }
        return words
    }

    static func unknown(_ name: String) -> Failure {
        Failure(.invalid, "\(name.prefix(64)): is unknown here")
    }

    /// The value of a key that stands in the query once; nil where it does not.
    private static func take(
        _ name: String, from query: inout [(name: String, value: String)]
    ) throws(Failure) -> [UInt8]? {
        guard let index = query.firstIndex(where: { $0.name == name }) else { return nil }
        let value = query.remove(at: index).value
        guard !query.contains(where: { $0.name == name }) else {
            throw Failure(.invalid, "\(name): is there twice")
        }
        return Array(value.utf8)
    }

    /// The options that the command takes.
    private var options: Set<String> { Set(command.declaration.parameterDescriptions.compactMap(\.token)) }

    private func members(of request: Request) throws(Failure) -> [String: JSONValue] {
        parameters.contains { $0.place == .content } ? [:] : try Route.members(of: request.body)
    }

    /// The members of a body, without those that are null.
    static func members(of body: [UInt8]) throws(Failure) -> [String: JSONValue] {
        guard !body.isEmpty else { return [:] }
        let json: JSONValue
        do throws(JSONReadingError) {
            json = try JSONValue(body)
        } catch {
            throw Failure(.invalid, "body: must be one JSON document in UTF-8: \(error)")
        }
        guard case .object(let object) = json else { throw Failure(.invalid, "body: must be an object") }
        var members: [String: JSONValue] = [:]
        for member in object {
            if case .null = member.value { continue }
            members[member.key] = member.value
        }
        return members
    }
}

extension Route.Parameter {
    /// The word of a member of the body.
    func word(_ value: JSONValue) throws(Failure) -> [UInt8] {
        switch value {
        case .string(let text) where !isInteger: return Array(text.utf8)
        case .number(let text) where isInteger:
            // Programs that know only floating point write 2.0, as far as that is exact.
            let rounded = Double(text).flatMap(Int64.init(exactly:)).flatMap { $0.magnitude < 1 << 53 ? $0 : nil }
            if let number = Int64(text) ?? rounded { return Array("\(number)".utf8) }
        case .string, .number, .null, .bool, .array, .object: break
        }
        throw Failure(.invalid, "\(name): must be \(isInteger ? "a whole number" : "a string")")
    }
}

/// Filters as keys of a query: `cuisine=thai&cuisine=lao&not.tag=vegan&price=200,2000&attr.serves=2,`.
enum FilterKeys {
    /// The prefix of a filter that leaves out what it matches.
    static let exclusion = "not."
    private static let attribute = "ATTR"

    /// Whether the key of a filter goes on with the name of an attribute.
    static func isOfAttributes(_ filter: Filter) -> Bool { filter.name == attribute }
    private static let open = "OPEN"

    /// The words of all filters and options, which are taken from the query.
    ///
    /// - Parameter options: the options that can be among them.
    static func words(
        _ query: inout [(name: String, value: String)], options known: Set<String>
    ) throws(Failure) -> [[UInt8]] {
        var filters: [(key: String, values: [String])] = []
        var options: [[UInt8]] = []
        for (name, value) in query {
            if let option = CatalogueQuery.Option.allCases.first(where: { $0.rawValue.lowercased() == name }),
                known.contains(option.rawValue)
            {
                options.append(Array(option.rawValue.utf8))
                let isList = option == .facets
                options += (isList ? value.split(separator: ",").map(String.init) : [value]).map { Array($0.utf8) }
            } else if let index = filters.firstIndex(where: { $0.key == name }) {
                filters[index].values.append(value)
            } else {
                filters.append((name, [value]))
            }
        }
        query = []
        var words: [[UInt8]] = []
        for (key, values) in filters { words += try self.words(ofFilter: key, values) }
        return words + options
    }

    private static func words(ofFilter key: String, _ values: [String]) throws(Failure) -> [[UInt8]] {
        let isExclusion = key.hasPrefix(exclusion)
        let parts = (isExclusion ? key.dropFirst(exclusion.count) : key[...]).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].uppercased()
        guard let filter = Filter.all.first(where: { $0.name == name }), parts[0] == parts[0].lowercased() else {
            throw Failure(.invalid, "\(key.prefix(64)): is no filter and no option here")
        }
        var words = (isExclusion ? [CatalogueQuery.exclusion] : []) + [name]
        switch (name, parts.count) {
        case (attribute, 2):
            words.append(String(parts[1]))
            if values.count == 1, let range = range(values[0]), range.count == 2 {
                words += range
            } else {
                words += ["ANY"] + values.map { "=" + $0 }
            }
        case (attribute, _): throw Failure(.invalid, "\(key): must name an attribute, as attr.serves does")
        case (_, 2) where !(filter.isRepeatable && parts[1].allSatisfy(\.isWholeNumber)):
            throw Failure(.invalid, "\(key.prefix(64)): is no filter and no option here")
        case (open, _):
            guard values == ["1"] || values == [""] else { throw Failure(.invalid, "\(key): must be 1") }
        case _ where filter.values == "min max":
            guard values.count == 1, let range = range(values[0]), range.count == 2 || filter.takesOneNumber else {
                throw Failure(.invalid, "\(key): must be one range, such as 200,2000 or 200, or ,2000")
            }
            words += range
        default: words += values.map { "=" + $0 }
        }
        return words.map { Array($0.utf8) }
    }

    /// The ends of a range, `*` for one that is open, or one number alone; nil where that makes no sense.
    private static func range(_ text: String) -> [String]? {
        let ends = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(ends.count), ends.contains(where: { !$0.isEmpty }),
            ends.allSatisfy({ $0.utf8.allSatisfy { "0123456789.-eE+".utf8.contains($0) } })
        else { return nil }
        return ends.map { $0.isEmpty ? "*" : $0 }
    }
}
