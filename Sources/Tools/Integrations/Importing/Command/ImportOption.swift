internal import CommandLineOptions
internal import Domain
internal import Foundation
internal import LineClient
internal import LineProtocol

/// The options of an import.
enum ImportOption {
    static let map = Option(
        OptionDeclaration(
            "map", "field=column,…", "which column holds which field; may be repeated", isRequired: true,
            isRepeatable: true)
    ) { texts throws(UsageError) in
        var map = ColumnMap()
        for text in texts { try map.add(text) }
        try map.validate()
        return map
    }
    static let outlet = Option.required(
        "outlet", "id", "the outlet whose menu it is",
        OptionValue("1–64 of the characters \(Identifier.characters)") { $0.isIdentifier ? $0 : nil })
    static let currency = Option.required(
        "currency", "code", "ISO 4217, such as INR; amounts in files are in its major units",
        OptionValue("three capital letters of ISO 4217") { text in
            text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
                ? text : nil
        })
    static let price = Option.required(
        "price", "minor", "what every item costs, in minor units: 950 is 9.50",
        OptionValue("a whole number of minor units") { text in Int64(text).flatMap { $0 >= 0 ? $0 : nil } })
    static let name = Option.optional("name", "text", "the name of the outlet where it is new (default its id)", .text)
    static let timeZone = Option.required("time-zone", "zone", timeZoneHelp, timeZoneName)
    static let timeZoneOfRecipes = Option.value("time-zone", "zone", timeZoneHelp, timeZoneName, default: "UTC")
    static let unrated = Option(
        OptionDeclaration(
            "unrated", "rating/count",
            "what the file writes for \"not rated yet\", such as 2.9/80; may be repeated", isRepeatable: true)
    ) { texts throws(UsageError) in
        var marks: Set<RatingMark> = []
        for text in texts {
            guard let mark = RatingMark(text) else {
                throw UsageError("--unrated: '\(text)' is not a rating and a number of ratings, such as 2.9/80")
            }
            marks.insert(mark)
        }
        return marks
    }
    static let open = Option.flag("open", "open outlets that are closed or paused, too, not only new ones")
    static let strict = Option.flag("strict", "take nothing if any row is malformed")
    static let partial = Option.flag("partial", "take the good recipes if others are malformed")
    static let allowEmpty = Option.flag("allow-empty", "let a feed without items replace a menu that has some")
    static let timeout = Option.value(
        "timeout", "seconds", "how long an address may take to answer in full", .integer(1...3_600), default: "30")
    static let maximumSize = Option.value(
        "max-size", "bytes", "the most that is read, such as 16mb", .bytes(1 << 20...1 << 30), default: "256mb")
    /// How what is named is read.
    static let reading: [any DeclaredOption] = [timeout, maximumSize]
    static let server = Option.value(
        "server", "host:port", "where the server listens", OptionValue("host:port") { ServerAddress($0) },
        default: "\(ServerAddress.standard)", variable: "TIFFIN_SERVER")
    /// Where the server is, and how to talk to it.
    static let connecting: [any DeclaredOption] = [server] + ConnectionOptions.declarations

    private static let timeZoneHelp = "IANA name, such as Asia/Kolkata"
    private static let timeZoneName = OptionValue("an IANA time zone") { TimeZone(identifier: $0) == nil ? nil : $0 }
}
