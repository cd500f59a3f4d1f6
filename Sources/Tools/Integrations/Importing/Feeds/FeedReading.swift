internal import Domain

/// What a document means for a menu: what is put, what is recorded, and how the import ends.
struct FeedReading: Equatable {
    /// The document of `MENU.PUT`; nil to leave the menu as it is.
    private(set) var menu: String?
    /// What is recorded.
    var report: FeedReport
    /// What is wrong with the document.
    private(set) var problems: [Problem] = []
    /// What the menu has; without one, the line that says why.
    private(set) var summary: String
    /// How the import ends if the server takes all of it.
    private(set) var code = ImportExitCode.fine

    /// A document of recipes. All of them are taken or none, unless the good ones are wanted.
    static func recipes(
        _ bytes: [UInt8], from input: ImportInput, _ options: RecipeImportOptions
    ) throws(UnreadableFile) -> FeedReading {
        let file = try RecipeFile(json: bytes, path: input.label)
        let menu = RecipeMenu(file.recipes)
        let summary = "\(file.recipes.count.counted("recipe")) in \(menu.sections.count.counted("section"))"
        var reading = FeedReading(
            menu: menu.document(price: options.price), report: FeedReport(.ready, source: input.source),
            summary: summary)
        if file.recordCount == 0 {
            reading.isEmpty("\(input.label): has no recipes", options.allowsEmpty)
        } else if !file.problems.isEmpty {
            let isTaken = options.isPartial && !file.recipes.isEmpty
            reading.report = FeedReport(isTaken ? .ready : .malformed, source: input.source, problems: file.problems)
            reading.problems = file.problems
            reading.code = .malformed
            if !isTaken { reading.leavesMenu("\(input.label): nothing taken of \(file.recordCount.counted("recipe"))") }
        }
        return reading
    }

    /// A menu as documents describe it, which the server judges.
    static func menu(
        _ bytes: [UInt8], from input: ImportInput, _ options: MenuImportOptions
    ) throws(UnreadableFile) -> FeedReading {
        let file = try MenuFile(json: bytes, path: input.label)
        var reading = FeedReading(
            menu: file.document, report: FeedReport(.ready, source: input.source),
            summary: file.sectionCount.counted("section"))
        if file.itemCount == 0 { reading.isEmpty("\(input.label): has no items", options.allowsEmpty) }
        return reading
    }

    /// A document that cannot be read.
    init(_ error: UnreadableFile, from input: ImportInput) {
        report = FeedReport(.malformed, source: input.source, problems: [error.problem])
        summary = "tiffin import: \(error)"
        code = .unreadable
    }

    /// A document that has not changed, so its last report still holds.
    init(unchangedSince last: FeedReport, from input: ImportInput, _ options: ImportOptions.Source) {
        report = last
        problems = last.problems.map { Problem(reason: $0) }
        summary = "\(input.label): not changed since \(last.checkedAt ?? "it was last imported")"
        switch last.state {
        case .ready, .malformed: code = last.problems.isEmpty ? .fine : .malformed
        case .empty: code = options.allowsEmpty ? .fine : .empty
        }
    }

    private init(menu: String, report: FeedReport, summary: String) {
        self.menu = menu
        self.report = report
        self.summary = summary
    }

    private mutating func isEmpty(_ summary: String, _ isAllowed: Bool) {
        report.state = .empty
        guard !isAllowed else { return }
        code = .empty
        leavesMenu(summary)
    }

    private mutating func leavesMenu(_ reason: String) {
        menu = nil
        summary = reason
    }
}
