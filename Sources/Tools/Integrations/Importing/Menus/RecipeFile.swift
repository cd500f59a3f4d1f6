internal import Domain
internal import Foundation
internal import TextFormats

/// The recipes of a JSON file, `{"recipes": […]}`, and what in it is none.
struct RecipeFile: Equatable {
    private(set) var recipes: [Recipe] = []
    private(set) var problems: [Problem] = []
    /// Recipes read, malformed ones among them.
    private(set) var recordCount = 0

    private var rowOfID: [String: Int] = [:]

    init(json bytes: [UInt8], path: String) throws(UnreadableFile) {
        for element in try JSONFile.elements(of: "recipes", in: bytes, path: path) {
            recordCount += 1
            take(element, row: recordCount)
        }
    }

    private mutating func take(_ element: JSONValue, row: Int) {
        guard case .object = element else {
            problems.append(Problem(row: row, field: "recipe", reason: "is not an object"))
            return
        }
        var reader = RecipeReader(element, row: row)
        let recipe = reader.recipe()
        let key = recipe.id.lowercased()
        if let first = rowOfID[key] { reader.report("uuid", "is the same as in recipe \(first)") }
        problems += reader.problems
        guard reader.problems.isEmpty else { return }
        rowOfID[key] = row
        recipes.append(recipe)
    }
}

/// One element on its way to a recipe; collects every problem of it, not only the first.
private struct RecipeReader {
    let element: JSONValue
    let row: Int
    private(set) var problems: [Problem] = []

    init(_ element: JSONValue, row: Int) {
        self.element = element
        self.row = row
    }

    mutating func report(_ field: String, _ reason: String) {
        problems.append(Problem(row: row, field: field, reason: reason))
    }

    /// The recipe; of no use when there are problems afterwards.
    mutating func recipe() -> Recipe {
        Recipe(
            id: text("uuid", "is not a UUID") { UUID(uuidString: $0) != nil },
            name: text("name"), cuisine: text("cuisine"),
            imageSmall: address("photo_url_small"), imageLarge: address("photo_url_large"),
            source: address("source_url"), video: address("youtube_url"))
    }

    /// The address in a field; nil where there is none, or one that is none.
    private mutating func address(_ field: String) -> String? {
        switch element[field] {
        case nil, .null?: return nil
        case .string(let text)? where text.onOneLine.isEmpty: return nil
        case .some: return text(field, "is not an http or https URL") { WebAddress.isAbsolute(Text($0)) }
        }
    }

    /// The field's text where it is valid, the empty text and a problem otherwise.
    private mutating func text(
        _ field: String, _ reason: String = "", isValid: (String) -> Bool = { _ in true }
    ) -> String {
        switch element[field] {
        case nil, .null?:
            report(field, "is missing")
        case .string(let raw)?:
            let text = raw.onOneLine
            if text.isEmpty {
                report(field, "is empty")
            } else if isValid(text) {
                return text
            } else {
                report(field, "'\(text.shortened)' \(reason)")
            }
        case .bool?, .number?, .array?, .object?:
            report(field, "is not text")
        }
        return ""
    }
}
