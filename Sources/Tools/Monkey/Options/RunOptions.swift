internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// What a command line asks for.
struct RunOptions: Sendable {
    /// How the load is made.
    enum Mode: Equatable, Sendable {
        /// To a plan; without one, at half of what a short closed load reaches.
        case open(stages: [RunReport.Stage]?)
        /// As fast as answers come.
        case closed(pipeline: Int)
    }

    static let usualConnections = 50
    static let usualSeconds = 10

    /// Where servers of one log listen: one at least.
    var servers = [ServerAddress.standard]
    var connection = ConnectionOptions()
    /// Starts a server of its own.
    var starts = false
    /// The `tiffin` to start; nil for the one beside this program.
    var executable: String?
    var scenarios: [RunReport.Share] = [RunReport.Share(scenario: "monkey", weight: 1)]
    var mode = Mode.open(stages: nil)
    var seconds = Double(usualSeconds)
    /// How many answers end the load, if it has not ended by then.
    var commands: Int?
    var connections = usualConnections
    /// nil: a thousand of an open load, and one for each command on its way of a closed one.
    var shoppers: Int?
    var size = World.Size.usual
    var seed: UInt64 = 0
    var isChaotic = false
    var json: String?
    var junit: String?
    var html: String?
    /// Where the run is recorded.
    var record: String?
    /// The record to judge in place of a run.
    var judge: String?
    var thresholds: [Threshold] = []
    /// An earlier run, and how much worse this one may be.
    var baseline: Baseline?
    var isQuiet = false
    /// The words that repeat the run.
    var command = ""
}
