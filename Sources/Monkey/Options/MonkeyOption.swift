/// An option of the command line; its raw value is what is typed behind the dashes.
enum MonkeyOption: String, CaseIterable {
    case server
    case start
    case tiffin
    case scenario
    case duration
    case rate
    case stages
    case closed
    case connections
    case pipeline
    case shoppers
    case seed
    case chaos
    case outlets
    case items
    case carts
    case threshold
    case baseline
    case regress
    case json
    case junit
    case html
    case record
    case judge
    case quiet

    /// What stands for its value in the help; nil where it takes none.
    var placeholder: String? {
        switch self {
        case .server: "HOST:PORT"
        case .tiffin: "PATH"
        case .scenario: "NAME[=WEIGHT],…|FILE"
        case .duration: "TIME"
        case .rate: "N"
        case .stages: "TIME:RATE,…"
        case .connections, .pipeline, .shoppers, .outlets, .items, .carts, .seed: "N"
        case .threshold: "TEXT"
        case .regress: "PERCENT"
        case .baseline, .json, .junit, .html, .record, .judge: "FILE"
        case .start, .closed, .chaos, .quiet: nil
        }
    }

    var mayRepeat: Bool { self == .threshold }

    var summary: String {
        switch self {
        case .server: "where the server listens ($TIFFIN_SERVER, 127.0.0.1:7379)"
        case .start: "start a server for the run, with a database of its own, and stop it afterwards"
        case .tiffin: "the server to start (the tiffin beside this program)"
        case .scenario: "what users do (monkey), or a JSON file of scenarios and weights"
        case .duration: "how long the load lasts: 10s, 2m (10s)"
        case .rate: "commands a second (half of what a short closed load reaches)"
        case .stages: "a rate that changes: 10s:5000,30s:20000 rises from 0 to 5000, then on to 20000"
        case .closed: "send the next command when the last is answered, instead of to a plan"
        case .connections: "connections (50)"
        case .pipeline: "commands on their way on each connection, with --closed (1)"
        case .shoppers: "users that share the connections, without --closed (1000)"
        case .seed: "what all chance comes from (the time)"
        case .chaos: "cut connections, send twice, read slowly; with --start kill and pause the server"
        case .outlets: "outlets to build first (8; stress: 1000)"
        case .items: "items on all their menus (320; stress: 100000)"
        case .carts: "carts to fill first (0; stress: 100000)"
        case .threshold: "what has to hold, such as 'cart.add:p99<20ms'; may be repeated"
        case .baseline: "an earlier --json to compare with"
        case .regress: "how much worse than the baseline is too much (10%)"
        case .json: "write the report as JSON"
        case .junit: "write the report as JUnit XML"
        case .html: "write the report as one HTML file"
        case .record: "record everything that was judged, for --judge"
        case .judge: "judge a recorded run again, without a server; no other option goes with it"
        case .quiet: "no progress on standard error"
        }
    }
}
