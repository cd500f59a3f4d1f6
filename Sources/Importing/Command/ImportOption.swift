/// An option of the command line; its raw value is what is typed behind the dashes.
enum ImportOption: String, CaseIterable {
    case map
    case outlet
    case currency
    case price
    case name
    case timeZone = "time-zone"
    case keepRatings = "keep-ratings"
    case open
    case strict
    case server

    /// What stands for its value in the help; nil where it takes none.
    var placeholder: String? {
        switch self {
        case .map: "FIELD=COLUMN,…"
        case .outlet: "ID"
        case .currency: "CODE"
        case .price: "MINOR"
        case .name: "TEXT"
        case .timeZone: "ZONE"
        case .server: "HOST:PORT"
        case .keepRatings, .open, .strict: nil
        }
    }

    var summary: String {
        switch self {
        case .map: "which column holds which field; may be repeated"
        case .outlet: "the outlet whose menu it is"
        case .currency: "ISO 4217, such as INR; amounts in files are in its major units"
        case .price: "what every item costs, in minor units: 950 is 9.50"
        case .name: "the name of the outlet where it is new (its id)"
        case .timeZone: "IANA name, such as Asia/Kolkata (UTC for recipes)"
        case .keepRatings: "take ratings that look like placeholders as they are"
        case .open: "open outlets that are closed or paused, too, not only new ones"
        case .strict: "take nothing if any row is malformed"
        case .server: "where the server listens ($TIFFIN_SERVER, 127.0.0.1:7379)"
        }
    }
}
