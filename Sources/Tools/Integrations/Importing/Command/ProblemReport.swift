/// The problems of a file, each a line on standard error, as far as anybody reads them.
struct ProblemReport {
    /// The most problems that are shown.
    static let maximumShown = 100

    private let file: String
    private let write: (String) -> Void
    private(set) var count = 0

    init(file: String, write: @escaping (String) -> Void) {
        self.file = file
        self.write = write
    }

    mutating func add(_ problems: [Problem]) {
        for problem in problems {
            count += 1
            if count <= ProblemReport.maximumShown { write(problem.line(in: file)) }
        }
    }

    /// Says how many were not shown.
    func finish() {
        if count > ProblemReport.maximumShown {
            write("and \((count - ProblemReport.maximumShown).grouped) more")
        }
    }
}
