/// What `--help` prints.
enum ImportHelp {
    static func text(for kind: ImportKind?) -> String {
        kind.map(details) ?? overview
    }

    private static var overview: String {
        """
        Usage: tiffin import <kind> FILE [options]

        Loads a file into a running server, as a client of it: everything it does is an event.
        Loading the same file again changes nothing.

        Kinds:
        \(table(ImportKind.allCases.map { ($0.rawValue, $0.summary) }))

        A line on standard error for every problem: file:row: field: reason. A row with a problem
        is not taken at all, the others are. In CSV files the row is the line it starts at, in JSON
        files the number of the recipe, from 1.

        Exit codes:
        \(table(ImportExitCode.allCases.map { (String($0.rawValue), $0.summary) }))

        tiffin import <kind> --help lists the options of a kind.

        """
    }

    private static func details(of kind: ImportKind) -> String {
        let options = kind.options.map { option in
            ("--\(option.rawValue)\(option.placeholder.map { " \($0)" } ?? "")", option.summary)
        }
        return """
            Usage: tiffin import \(usage(of: kind))

            \(about(kind))

            Options:
            \(table(options))

            """
    }

    private static func names(_ fields: [OutletField]) -> String {
        fields.map(\.rawValue).joined(separator: ", ")
    }

    private static func usage(of kind: ImportKind) -> String {
        let options = kind.required.map { "--\($0.rawValue) \($0.placeholder ?? "")" }
        return ([kind.rawValue, "FILE"] + options + ["[options]"]).joined(separator: " ")
    }

    private static func about(_ kind: ImportKind) -> String {
        switch kind {
        case .outlets:
            """
            Registers an outlet for every row of a CSV file, whose first line names the columns, and opens
            it. An outlet that is there already gets what differs, and is opened only if nobody ever did.
            Blanks around values are dropped. Empty values and NULL are none, -- and NEW are no rating.
            Where at least \(PlaceholderRating.fewestRows) rows have the same number of ratings and all of \
            them the same rating, these
            are a placeholder of the source and no rating.

            Fields: \(names(OutletField.required)), and as far as there are any
            \(names(OutletField.allCases.filter { !OutletField.required.contains($0) }))
            """
        case .recipes:
            """
            Makes the menu of an outlet of the recipes in {"recipes":[{"cuisine","name",
            "photo_url_large","photo_url_small","uuid"}]}: a section for each cuisine, an item for each
            recipe. The outlet is registered and opened where it is new. A menu that is there is replaced.
            """
        case .menu:
            """
            Replaces the menu of an outlet by the document {"sections":[…]}. The server judges what is
            in it.
            """
        }
    }

    /// Rows of two columns, indented.
    private static func table(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, summary in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(summary)"
        }
        .joined(separator: "\n")
    }
}
