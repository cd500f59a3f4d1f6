/// PostgreSQL's five-character error code; its first two characters are the class.
///
/// Source: PostgreSQL's manual, appendix A.
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The five characters.
    package let rawValue: String

    /// The code with these five characters.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first two characters.
    package var classCode: Substring { rawValue.prefix(2) }

    /// Class 08: the connection could not be made, or is gone.
    package var isConnectionException: Bool { classCode == "08" }

    /// The five characters.
    package var description: String { rawValue }

    /// The server could not be reached.
    package static let cannotConnect = SQLState(rawValue: "08001")
    /// The connection is gone.
    package static let connectionFailure = SQLState(rawValue: "08006")
    /// The server said nothing for too long; a code of this client's own.
    package static let noAnswer = SQLState(rawValue: "08T00")
    /// Binary data is not what was expected.
    package static let invalidBinaryRepresentation = SQLState(rawValue: "22P03")
    /// A row with this key exists.
    package static let uniqueViolation = SQLState(rawValue: "23505")
    /// Nothing may be written: the database is a standby, or somebody made it read-only.
    package static let readOnly = SQLState(rawValue: "25006")
    /// An earlier statement of the transaction failed; nothing is done until it is rolled back.
    package static let inFailedTransaction = SQLState(rawValue: "25P02")
    /// A prepared statement with this name does not exist.
    package static let invalidStatementName = SQLState(rawValue: "26000")
    /// Concurrent transactions have no serial order; try again.
    package static let serializationFailure = SQLState(rawValue: "40001")
    /// Two transactions waited for each other; try again.
    package static let deadlockDetected = SQLState(rawValue: "40P01")
    /// The account may not do this.
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    /// The statement cannot be parsed.
    package static let syntaxError = SQLState(rawValue: "42601")
    /// The function does not exist.
    package static let undefinedFunction = SQLState(rawValue: "42883")
    /// The table does not exist.
    package static let undefinedTable = SQLState(rawValue: "42P01")
    /// The schema does not exist.
    package static let undefinedSchema = SQLState(rawValue: "3F000")
    /// A limit of this client: too many statements are outstanding.
    package static let configurationLimitExceeded = SQLState(rawValue: "53400")
    /// A limit of this client: the parameters are too large.
    package static let programLimitExceeded = SQLState(rawValue: "54000")
    /// A timeout or a request cancelled the statement.
    package static let queryCanceled = SQLState(rawValue: "57014")
    /// An administrator ended the connection, or is stopping the server.
    package static let adminShutdown = SQLState(rawValue: "57P01")
}
