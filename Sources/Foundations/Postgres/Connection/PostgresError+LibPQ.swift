internal import CLibPQ

extension PostgresError {
    /// The server's answer. After an error that ends the session, or a server's own connection to where the data is, the
    /// statement's outcome is unknown.
    init(_ result: OpaquePointer) {
        func field(_ field: Field) -> String? {
            PQresultErrorField(result, Int32(field.rawValue.value)).map { String(cString: $0) }
        }
        let endsSession = ["FATAL", "PANIC"].contains(field(.severity))
        // An error that libpq finds by itself, such as a broken connection, has no code.
        let sqlState = field(.sqlState).map(SQLState.init(rawValue:))
        self.init(
            endsSession || sqlState?.isConnectionException ?? true ? .connection : .server,
            sqlState ?? .connectionFailure,
            field(.message) ?? oneLine(PQresultErrorMessage(result)),
            detail: field(.detail),
            constraint: field(.constraint))
    }

    /// What libpq says about a connection.
    init(connection: OpaquePointer, _ sqlState: SQLState) {
        self.init(.connection, sqlState, oneLine(PQerrorMessage(connection)))
    }

    /// Why a connection could not be made: with the server's own code where it refused one, `FATAL:  53300: sorry, …`.
    init(connecting connection: OpaquePointer) {
        self.init(connection: connection, .cannotConnect)
        guard let code = message.matches(of: #/: {2}([0-9A-Z]{5}): /#).last?.output.1 else { return }
        let lines = message.split(separator: "; ").filter { !$0.hasPrefix("LOCATION: ") }
        self.init(.connection, SQLState(rawValue: String(code)), lines.joined(separator: "; "))
    }
}

/// The fields of an error; character macros (`PG_DIAG_…`), which Swift does not import.
///
/// Source: PostgreSQL's manual, "Error and Notice Message Fields".
private enum Field: Unicode.Scalar {
    /// Not translated, unlike `S`.
    case severity = "V"
    case sqlState = "C"
    case message = "M"
    case detail = "D"
    case constraint = "n"
}

/// libpq indents the lines behind the first.
private func oneLine(_ message: UnsafePointer<CChar>) -> String {
    String(cString: message).split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        .joined(separator: "; ")
}
