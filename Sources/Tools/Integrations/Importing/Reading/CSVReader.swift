/// Reads the records of a CSV file (RFC 4180): fields between commas, or between quotes, which then may hold
/// commas, line ends and doubled quotes. Lines end in CR LF or LF, mixed as they come; empty ones are
/// skipped. A quote inside an unquoted field is itself.
struct CSVReader {
    /// Bytes of a field, without its quotes.
    static let maximumFieldLength = 64 << 10
    /// Bytes of a record.
    static let maximumRecordLength = 1 << 20

    /// A record, or what is left of one.
    enum Row: Equatable {
        case record(line: Int, fields: [String])
        case malformed(line: Int, reason: String)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")

    private let bytes: [UInt8]
    private var index = 0
    /// The physical line that `index` is in, from 1.
    private var line = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next record that is not an empty line; nil at the end.
    mutating func next() -> Row? {
        while index < bytes.count {
            let start = (index, line)
            do throws(Malformed) {
                let fields = try readRecord()
                if fields != [""] { return .record(line: start.1, fields: fields) }
            } catch {
                // Where a quote was left open or closed too early, it is unknown where the record ends. Going
                // on behind its first line costs no row but this one.
                (index, line) = start
                skipLine()
                return .malformed(line: start.1, reason: error.reason)
            }
        }
        return nil
    }

    private mutating func readRecord() throws(Malformed) -> [String] {
        let start = index
        var fields: [String] = []
        while true {
            fields.append(try readField())
            guard index - start <= CSVReader.maximumRecordLength else {
                throw Malformed("is longer than \(CSVReader.maximumRecordLength >> 20) MiB")
            }
            guard index < bytes.count, bytes[index] == CSVReader.comma else { break }
            index += 1
        }
        skipLineEnd()
        return fields
    }

    /// Reads up to the comma, the line end or the end of the file behind the field.
    private mutating func readField() throws(Malformed) -> String {
        guard index < bytes.count, bytes[index] == CSVReader.quote else {
            let start = index
            while !isAtFieldEnd { index += 1 }
            return try text(bytes[start..<index])
        }
        index += 1
        var value: [UInt8] = []
        while true {
            guard index < bytes.count else { throw Malformed("has a quote that is not closed") }
            let byte = bytes[index]
            index += 1
            if byte == CSVReader.quote {
                guard index < bytes.count, bytes[index] == CSVReader.quote else { break }
                index += 1
            } else if byte == CSVReader.lineFeed {
                line += 1
            }
            value.append(byte)
            guard value.count <= CSVReader.maximumFieldLength else { throw tooLong }
        }
        guard isAtFieldEnd else { throw Malformed("has text behind a closing quote") }
        return try text(value[...])
    }

    private var tooLong: Malformed {
        Malformed("has a field longer than \(CSVReader.maximumFieldLength >> 10) KiB, or a quote not closed")
    }

    private var isAtFieldEnd: Bool {
        guard index < bytes.count else { return true }
        switch bytes[index] {
        case CSVReader.comma, CSVReader.lineFeed: return true
        case CSVReader.carriageReturn:
            return index + 1 < bytes.count && bytes[index + 1] == CSVReader.lineFeed
        default: return false
        }
    }

    private func text(_ field: ArraySlice<UInt8>) throws(Malformed) -> String {
        guard field.count <= CSVReader.maximumFieldLength else { throw tooLong }
        guard let text = String(validating: field, as: UTF8.self) else { throw Malformed("is not UTF-8") }
        return text
    }

    private mutating func skipLineEnd() {
        guard index < bytes.count else { return }
        if bytes[index] == CSVReader.carriageReturn { index += 1 }
        index += 1
        line += 1
    }

    private mutating func skipLine() {
        while index < bytes.count, bytes[index] != CSVReader.lineFeed { index += 1 }
        skipLineEnd()
    }
}
