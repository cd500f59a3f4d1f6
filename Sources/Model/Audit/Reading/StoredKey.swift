public import Domain
public import EventLog

/// A customer's key in a partition, as the table of keys shows it.
public enum StoredKey: Equatable, Sendable {
    /// There is no row.
    case missing
    /// The customer was forgotten.
    case destroyed
    /// The key.
    case known(SealingKey)
    /// There is one, which the reader may not see, made at this time.
    case secret(madeAt: Timestamp)
}
