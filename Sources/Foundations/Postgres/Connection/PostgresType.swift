/// A PostgreSQL type, by the object identifier that every server gives it.
///
/// Source: PostgreSQL's `pg_type.dat`.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    /// The object identifier.
    package let rawValue: UInt32

    /// The type with this object identifier.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `bool`
    package static let bool = PostgresType(rawValue: 16)
    /// `bytea`
    package static let bytea = PostgresType(rawValue: 17)
    /// `int8`
    package static let int8 = PostgresType(rawValue: 20)
    /// `int2`
    package static let int2 = PostgresType(rawValue: 21)
    /// `int4`
    package static let int4 = PostgresType(rawValue: 23)
    /// `text`
    package static let text = PostgresType(rawValue: 25)
    /// `json`; sent as `text` is.
    package static let json = PostgresType(rawValue: 114)
    /// `timestamptz`; sent as `int8` is, in microseconds since 2000-01-01 00:00 UTC.
    package static let timestamptz = PostgresType(rawValue: 1184)

    /// `bytea[]`
    package static let byteaArray = PostgresType(rawValue: 1001)
    /// `int2[]`
    package static let int2Array = PostgresType(rawValue: 1005)
    /// `int4[]`
    package static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`
    package static let textArray = PostgresType(rawValue: 1009)
    /// `int8[]`
    package static let int8Array = PostgresType(rawValue: 1016)
    /// `json[]`
    package static let jsonArray = PostgresType(rawValue: 199)
    /// `timestamptz[]`
    package static let timestamptzArray = PostgresType(rawValue: 1185)
}
