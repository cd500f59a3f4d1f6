internal import CommandLineOptions

/// What `--help` prints.
enum ImportHelp {
    static func text(for kind: ImportKind?) -> String {
        kind.map(details) ?? overview
    }

    private static var overview: String {
        """
        usage: tiffin import <kind> <file> [options]

        Loads a file into a running server, as a client of it. Loading the same file again changes
        nothing. The file can be an address, http://… or https://…, or - for standard input.

        Kinds:
        \(HelpTable.text(ImportKind.allCases.map { ($0.rawValue, $0.summary) }))

        Every problem is a line on standard error: file:row: field: reason. In CSV files the row is the
        line it starts at, in JSON files the number of the recipe, from 1. An outlet with a problem is
        left out, and the others are taken. A menu is taken whole or not at all, and what its file was
        found to hold is recorded, so that clients can show it.

        Exit codes:
        \(HelpTable.text(ImportExitCode.allCases.map { (String($0.rawValue), $0.summary) }))

        tiffin import <kind> --help lists the options of a kind.

        """
    }

    private static func details(of kind: ImportKind) -> String {
        """
        \(kind.syntax.usage)

        \(about(kind))

        Options:
        \(kind.syntax.optionTable)

        """
    }

    private static func names(_ fields: [OutletField]) -> String {
        fields.map(\.rawValue).joined(separator: ", ")
    }

    private static func about(_ kind: ImportKind) -> String {
        switch kind {
        case .outlets:
            """
            Registers an outlet for every row of a CSV file, whose first line names the columns, and opens
            it. An outlet that exists already is updated in the fields that are mapped, and opened only if
            it never was open. Blanks around values are dropped. Empty values and NULL mean no value, --
            and NEW no rating. A fixed rating that means no rating yet is named by --unrated; where at least
            \(PlaceholderRating.fewestRows) rows have the same number of ratings and all the same rating, a \
            line says so.

            Fields: \(names(OutletField.required)); optional:
            \(names(OutletField.allCases.filter { !OutletField.required.contains($0) }))
            """
        case .recipes:
            """
            Makes an outlet's menu from the recipes in {"recipes":[{"cuisine","name","uuid",…}]}: a section
            for each cuisine, an item for each recipe. photo_url_small and photo_url_large, source_url and
            youtube_url are http or https URLs, and may be missing. A new
            outlet is registered, and opened once it has a menu. An existing menu is replaced, unless
            there is no recipe, or any of them is malformed.
            """
        case .menu:
            """
            Replaces an outlet's menu by the document {"sections":[…]}, which the server checks, unless
            there is no item in it.
            """
        }
    }
}
