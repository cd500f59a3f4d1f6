import TextFormats

@testable import Integrations

/// A file is imported or its problems are told; and a table that is written again, with every field in quotes, has the
/// same fields. The first byte says what kind of file it is.
enum ImportTarget {
    static func check(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch kind % 3 {
        case 0: try checkTable(bytes)
        case 1: _ = try? RecipeFile(json: bytes, path: "recipes.json")
        default: _ = try? MenuFile(json: bytes, path: "menu.json")
        }
    }

    private static func checkTable(_ bytes: [UInt8]) throws {
        let records = records(in: bytes)
        let written = records.map { fields in
            fields.map { [quote] + $0.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote] }
                .joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "\n")]
        }
        try promise(
            self.records(in: Array(written.joined())) == records,
            "written as \(String(decoding: written.joined(), as: UTF8.self))")
        guard let header = records.first else { return }
        var map = ColumnMap()
        for (field, column) in zip(OutletField.allCases, header) {
            try? map.add("\(field.rawValue)='\(String(decoding: column, as: UTF8.self))'")
        }
        _ = try? OutletTable(csv: bytes, path: "outlets.csv", map: map, currency: "INR")
    }

    private static let quote = UInt8(ascii: "\"")

    /// The fields as bytes: some texts are equal that are not the same.
    private static func records(in bytes: [UInt8]) -> [[[UInt8]]] {
        var reader = CSVReader(bytes)
        var records: [[[UInt8]]] = []
        while let row = reader.next() {
            if case .record(_, let fields) = row { records.append(fields.map { Array($0.utf8) }) }
        }
        return records
    }
}
