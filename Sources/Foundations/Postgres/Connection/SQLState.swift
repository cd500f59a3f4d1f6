/// PostgreSQL's five-character error code; its first two characters are the class.
///
/// Source: PostgreSQL's manual, appendix A.
public struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The five characters.
    public let rawValue: String

    /// The code with these five characters.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The first two characters.
    public var classCode: Substring { rawValue.prefix(2) }

    /// Class 08: the connection could not be made, or is gone.
    public var isConnectionException: Bool { classCode == "08" }

    /// Classes XX and 58: a page or a file cannot be read, because it is damaged or missing, or the disk fails.
    public var isDamage: Bool { ["XX", "58"].contains(classCode) }

    /// The five characters.
    public var description: String { rawValue }

    /// The server could not be reached.
    public static let cannotConnect = SQLState(rawValue: "08001")
    /// The connection is gone.
    public static let connectionFailure = SQLState(rawValue: "08006")
    /// The server said nothing for too long; a code of this client's own.
    public static let noAnswer = SQLState(rawValue: "08T00")
    /// Binary data is not what was expected.
    public static let invalidBinaryRepresentation = SQLState(rawValue: "22P03")
    /// A row with this key exists.
    public static let uniqueViolation = SQLState(rawValue: "23505")
    /// Nothing may be written: the database is a standby, or somebody made it read-only.
    public static let readOnly = SQLState(rawValue: "25006")
    /// An earlier statement of the transaction failed; nothing is done until it is rolled back.
    public static let inFailedTransaction = SQLState(rawValue: "25P02")
    /// A prepared statement with this name does not exist.
    public static let invalidStatementName = SQLState(rawValue: "26000")
    /// Concurrent transactions have no serial order; try again.
    public static let serializationFailure = SQLState(rawValue: "40001")
    /// Two transactions waited for each other; try again.
    public static let deadlockDetected = SQLState(rawValue: "40P01")
    /// A lock was not had in time.
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// The account may not do this.
    public static let insufficientPrivilege = SQLState(rawValue: "42501")
    /// The statement cannot be parsed.
    public static let syntaxError = SQLState(rawValue: "42601")
    /// The function does not exist.
    public static let undefinedFunction = SQLState(rawValue: "42883")
    /// The table does not exist.
    public static let undefinedTable = SQLState(rawValue: "42P01")
    /// The schema does not exist.
    public static let undefinedSchema = SQLState(rawValue: "3F000")
    /// A limit of this client: too many statements are outstanding.
    public static let configurationLimitExceeded = SQLState(rawValue: "53400")
    /// A limit of this client: the parameters are too large.
    public static let programLimitExceeded = SQLState(rawValue: "54000")
    /// A timeout or a request cancelled the statement.
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// An administrator ended the connection, or is stopping the server.
    public static let adminShutdown = SQLState(rawValue: "57P01")
}
