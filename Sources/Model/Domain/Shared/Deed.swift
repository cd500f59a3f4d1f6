/// What is done beside the log, and recorded in it: customers who are forgotten, users, relays.
///
/// Nothing is decided here. What changes the table records it, in the same transaction.
public enum Deed {
    /// What happened.
    public enum Event: Equatable, Sendable {
        /// The customer's keys were destroyed, in every partition.
        case customerForgotten
        /// The user is like this from now on.
        case userPut(User)
        case userRemoved
        case relayPut
        /// The relay goes on behind this position of a partition.
        case relayMoved(partition: Int64, position: Int64)
        /// The relay leaves out the event at this position of a partition, which it had held back or set aside.
        case relaySkipped(partition: Int64, position: Int64, reason: Text)
    }

    /// A user, without anything that it could log in with.
    public struct User: Equatable, Sendable {
        /// What it may do.
        public var role: Text
        /// What it is confined to.
        public var grants: [Identifier]
        /// Whether it can log in.
        public var isEnabled: Bool
        /// What of it was changed, such as `password`.
        public var change: Text

        /// A user.
        public init(role: Text, grants: [Identifier], isEnabled: Bool, change: Text) {
            self.role = role
            self.grants = grants
            self.isEnabled = isEnabled
            self.change = change
        }
    }
}
