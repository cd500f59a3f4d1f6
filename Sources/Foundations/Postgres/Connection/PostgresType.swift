/// A PostgreSQL type, by the object identifier that every server gives it.
///
/// Source: PostgreSQL's `pg_type.dat`.
public struct PostgresType: RawRepresentable, Hashable, Sendable {
    /// The object identifier.
    public let rawValue: UInt32

    /// The type with this object identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `bool`
    public static let bool = PostgresType(rawValue: 16)
    /// `bytea`
    public static let bytea = PostgresType(rawValue: 17)
    /// `int8`
    public static let int8 = PostgresType(rawValue: 20)
    /// `int2`
    public static let int2 = PostgresType(rawValue: 21)
    /// `int4`
    public static let int4 = PostgresType(rawValue: 23)
    /// `text`
    public static let text = PostgresType(rawValue: 25)
    /// `json`; sent as `text` is.
    public static let json = PostgresType(rawValue: 114)
    /// `timestamptz`; sent as `int8` is, in microseconds since 2000-01-01 00:00 UTC.
    public static let timestamptz = PostgresType(rawValue: 1184)

    /// `bytea[]`
    public static let byteaArray = PostgresType(rawValue: 1001)
    /// `int2[]`
    public static let int2Array = PostgresType(rawValue: 1005)
    /// `int4[]`
    public static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`
    public static let textArray = PostgresType(rawValue: 1009)
    /// `int8[]`
    public static let int8Array = PostgresType(rawValue: 1016)
    /// `json[]`
    public static let jsonArray = PostgresType(rawValue: 199)
    /// `timestamptz[]`
    public static let timestamptzArray = PostgresType(rawValue: 1185)
}
