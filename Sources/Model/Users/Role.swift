// Users: who they are, how they prove it, and what they may do. Values and functions, without a socket or a database.

/// What a user is to Tiffin, and which users a command is for.
public enum Role: String, CaseIterable, Sendable {
    /// Any user who has logged in. Commands are for anybody; no user has this role.
    case anybody
    /// Both parties of an order. Commands are for them; no user has this role.
    case parties = "customer, merchant"
    /// People with carts.
    case customer
    /// Owners of outlets.
    case merchant
    /// Readers of the log.
    case auditor
    /// Those who run the server.
    case admin

    /// The roles that a user can have.
    public static let ofUsers: [Role] = [.customer, .merchant, .auditor, .admin]
}

/// What a session may do, and what a command needs, as bits: to compare them is one instruction.
///
/// Every user who has logged in may do what anybody may do, and what their role allows. Merchants and auditors may also
/// read what customers read. Admins may do everything.
public struct Rights: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// To log in. Everybody has it.
    public static let login = Rights(rawValue: 1 << 0)
    private static let anybody = Rights(rawValue: 1 << 1)
    private static let customerReading = Rights(rawValue: 1 << 2)
    private static let customerWriting = Rights(rawValue: 1 << 3)
    private static let merchant = Rights(rawValue: 1 << 4)
    private static let orderWriting = Rights(rawValue: 1 << 7)
    private static let auditor = Rights(rawValue: 1 << 5)
    private static let admin = Rights(rawValue: 1 << 6)

    /// Every right: those of an admin, and of everybody where there are no users.
    public static let all: Rights = [
        .login, .anybody, .customerReading, .customerWriting, .merchant, .auditor, .admin, .orderWriting,
    ]

    /// What users of a role may do.
    public init(of role: Role) {
        switch role {
        case .anybody, .parties: self = [.login, .anybody]
        case .customer: self = [.login, .anybody, .customerReading, .customerWriting, .orderWriting]
        case .merchant: self = [.login, .anybody, .customerReading, .merchant, .orderWriting]
        case .auditor: self = [.login, .anybody, .customerReading, .auditor]
        case .admin: self = .all
        }
    }

    /// Whether a user with these rights may speak for users of that role.
    public func mayActAs(_ role: Role) -> Bool { contains(Rights(toUseCommandFor: role, isWrite: true)) }

    /// The right that a command needs.
    ///
    /// - Parameters:
    ///   - role: who it is for.
    ///   - isWrite: whether it writes.
    public init(toUseCommandFor role: Role, isWrite: Bool) {
        switch role {
        case .anybody: self = .anybody
        case .parties: self = isWrite ? .orderWriting : .customerReading
        case .customer: self = isWrite ? .customerWriting : .customerReading
        case .merchant: self = .merchant
        case .auditor: self = .auditor
        case .admin: self = .admin
        }
    }
}
