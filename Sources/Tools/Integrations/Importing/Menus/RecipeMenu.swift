internal import TextFormats

/// The menu made of recipes: a section for each cuisine, in order of first appearance.
struct RecipeMenu: Equatable {
    struct Section: Equatable {
        var id: String
        var title: String
        var recipes: [Recipe]
    }

    /// Of the card of a recipe, in points.
    private static let minimumWidth = 160

    private(set) var sections: [Section] = []

    init(_ recipes: [Recipe]) {
        var sectionOfCuisine: [String: Int] = [:]
        var ids: Set<String> = []
        for recipe in recipes {
            if let index = sectionOfCuisine[recipe.cuisine] {
                sections[index].recipes.append(recipe)
            } else {
                sectionOfCuisine[recipe.cuisine] = sections.count
                let id = RecipeMenu.identifier(for: recipe.cuisine, notIn: ids)
                ids.insert(id)
                sections.append(Section(id: id, title: recipe.cuisine, recipes: [recipe]))
            }
        }
    }

    /// The slug of a cuisine; numbered where another cuisine has the same.
    private static func identifier(for cuisine: String, notIn ids: Set<String>) -> String {
        let slug = cuisine.slug(orElse: "cuisine")
        var id = slug
        var number = 2
        while ids.contains(id) {
            id = "\(slug)-\(number)"
            number += 1
        }
        return id
    }

    /// The document of `MENU.PUT`; every item costs `price` minor units.
    func document(price: Int64) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.key("sections")
        json.beginArray()
        for section in sections {
            json.beginObject()
            json.field("id", section.id)
            json.field("title", section.title)
            json.field("kind", "menuItems")
            json.key("layout")
            json.beginObject()
            json.field("style", "grid")
            json.field("minimumWidth", RecipeMenu.minimumWidth)
            json.endObject()
            json.key("items")
            json.beginArray()
            for recipe in section.recipes { RecipeMenu.write(recipe, price: price, to: &json) }
            json.endArray()
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ recipe: Recipe, price: Int64, to json: inout JSONWriter) {
        json.beginObject()
        json.field("id", recipe.id)
        json.field("kind", "menuItem")
        json.field("name", recipe.name)
        json.field("price", price)
        json.field("cuisine", recipe.cuisine)
        json.field("imageSmall", recipe.imageSmall)
        json.field("imageLarge", recipe.imageLarge)
        json.key("links")
        json.beginArray()
        for (relation, url) in [("source", recipe.source), ("video", recipe.video)] {
            guard let url else { continue }
            json.beginObject()
            json.field("rel", relation)
            json.field("url", url)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}
