internal import LineClient
internal import LineProtocol

/// An exchange that sends the rows of a file.
protocol ImportExchange: Exchange {
    /// How many of the rows are done.
    var finishedCount: Int { get }
}

extension ConnectionError {
    /// Codes of errors that every further command would meet: no rights, no database, no Tiffin.
    private static let fatalCodes: Set<String> = ["ERR", "NOAUTH", "NOPERM", "DENIED", "UNAVAILABLE"]

    /// The refusal that an error reply is; nil where it is about its command alone.
    init?(fatal reply: Reply) {
        guard case .error(let code, let message) = reply, ConnectionError.fatalCodes.contains(code) else {
            return nil
        }
        self = .refused("\(code) \(message)")
    }
}
