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

    /// The problems of a menu that the server did not take, each by itself.
    static func all(ofMenuRefused command: String, _ reply: Reply) -> [Problem] {
        guard case .error(let code, let message) = reply else {
            return [Problem(row: nil, refused: command, reply)]
        }
        return parts(of: message).map { Problem(field: command, reason: "\(code) \($0)") }
    }

    /// What stands between semicolons, if it begins with a place in a menu, or says how many more there are.
    private static func parts(of message: String) -> [String] {
        var parts: [String] = []
        for piece in message.split(separator: "; ", omittingEmptySubsequences: false) {
            let isNew = ["sections[", "groups["].contains { piece.hasPrefix($0) }
            let isLast = piece.hasPrefix("and ") && piece.hasSuffix(" more")
            if let last = parts.indices.last, !isNew, !isLast {
                parts[last] += "; \(piece)"
            } else {
                parts.append(String(piece))
            }
        }
        return parts
    }
}
