internal import LineProtocol

extension Problem {
    /// The problem of a row that a command was sent for and that the server did not take.
    init(row: Int?, refused command: String, _ reply: Reply) {
        let reason =
            switch reply {
            case .error(let code, let message): "\(code) \(message)"
            default: "the answer is not understood"
            }
        self.init(row: row, field: command, reason: reason)
    }
}
