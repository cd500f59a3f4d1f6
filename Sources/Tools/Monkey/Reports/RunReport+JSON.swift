internal import Foundation

/// Why a text is not the report of a run: a sentence for the user who named the file.
struct ReportError: Error, Equatable, CustomStringConvertible {
    var description: String
}

extension RunReport {
    /// The report as JSON, with its keys in order: equal reports give the same text.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = RunReport.noNumber
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    private static let noNumber = JSONEncoder.NonConformingFloatEncodingStrategy.convertToString(
        positiveInfinity: "infinity", negativeInfinity: "-infinity", nan: "nan")

    /// The report that `json` wrote. Anything else is an error that says what is wrong with it.
    init(json: String) throws(ReportError) {
        /// What every format begins with.
        struct Head: Decodable {
            var format: Int
        }
        let (data, decoder) = (Data(json.utf8), JSONDecoder())
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "infinity", negativeInfinity: "-infinity", nan: "nan")
        let ours = "the report of a run, as `--json` writes it"
        do {
            let head = try decoder.decode(Head.self, from: data)
            guard head.format == RunReport.currentFormat else {
                throw ReportError(
                    description:
                        "is a report of format \(head.format), and format \(RunReport.currentFormat) is the only "
                        + "one that can be read: run the baseline again")
            }
            self = try decoder.decode(RunReport.self, from: data)
        } catch let error as ReportError {
            throw error
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            throw ReportError(description: "is not \(ours): it has no `\(key.stringValue)`")
        } catch DecodingError.keyNotFound(let key, let context) {
            throw ReportError(
                description: "is not \(ours): `\(ReportError.place(context))` has no `\(key.stringValue)`")
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty,
            DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty
        {
            throw ReportError(
                description: "is not \(ours): `\(ReportError.place(context))` has the wrong type")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw ReportError(
                description: "is not \(ours): `\(ReportError.place(context))` has a value that it cannot have")
        } catch DecodingError.dataCorrupted {
            throw ReportError(description: "is not JSON, so it is not \(ours)")
        } catch {
            throw ReportError(description: "is not \(ours)")
        }
    }
}

extension ReportError {
    /// Where in the document: `calls[3].accepted`.
    fileprivate static func place(_ context: DecodingError.Context) -> String {
        context.codingPath.reduce("") { place, key in
            if let index = key.intValue { return place + "[\(index)]" }
            return place.isEmpty ? key.stringValue : place + "." + key.stringValue
        }
    }
}
