internal import Application
internal import Catalogue

/// Puts what a command says into the words of who sent a request: names of the body and of the query instead of those
/// of the line protocol, and routes instead of commands.
struct HTTPWords {
    /// What a command calls something, and what the request does.
    private var names: [String: String] = [
        "json": "body", "ID": "Idempotency-Key", "VERSION": "version", "SINCE": "since", "AT": "at",
    ]

    /// The words of filters and of everything else that a query of the catalogue takes.
    static let ofFilters = HTTPWords()

    private init() {
        let known = Filter.all.map(\.name) + CatalogueQuery.Option.allCases.map(\.rawValue)
        for name in known { names[name] = name.lowercased() }
    }

    init(of route: Route) {
        if route.parameters.contains(where: { $0.place == .filters }) {
            self = .ofFilters
            return
        }
        for parameter in route.parameters {
            if let token = parameter.token { names[token] = parameter.name }
        }
        // Both sides have what stands at a fixed place in the same order.
        let fixed = route.parameters.filter { $0.token == nil && $0.place != .content }
        let described = route.command.declaration.parameterDescriptions.filter { $0.token == nil && $0.name != "json" }
        for (parameter, description) in zip(fixed, described) where parameter.name != description.name {
            names[description.name] = parameter.name
        }
    }

    /// The failure as it is to be told.
    func saying(_ failure: Failure) -> Failure {
        if failure.code == .noPermission, failure.message == Failure.noPermissionForKey.message {
            return Failure(failure.code, "this is not yours to use")
        }
        var told = failure
        var message = failure.message[...]
        var start = ""
        // A field stands first, and may be spelt as any word is.
        if failure.code == .invalid, let colon = message.firstIndex(of: ":"),
            let name = names[String(message[..<colon])]
        {
            start = name
            message = message[colon...]
        }
        told.message = start + HTTPWords.replacing(message, names)
        return told
    }

    /// Replaces what is written in capitals, except for what stands between quotes: that came from somewhere else.
    private static func replacing(_ message: Substring, _ names: [String: String]) -> String {
        message.split(separator: "'", omittingEmptySubsequences: false).enumerated().map { index, part in
            guard index.isMultiple(of: 2) else { return String(part) }
            return part.split(separator: " ", omittingEmptySubsequences: false).map { word in
                let end = word.reversed().prefix { ",;:.?".contains($0) }.count
                let name = String(word.dropLast(end))
                guard name.count > 1, !name.contains(where: \.isLowercase) else { return String(word) }
                return (names[name] ?? route(of: name) ?? name) + word.suffix(end)
            }.joined(separator: " ")
        }.joined(separator: "'")
    }

    /// The route that runs a command.
    private static func route(of command: String) -> String? {
        Route.all.first { $0.command.declaration.name == command }.map { "\($0.method) \($0.path)" }
    }
}
