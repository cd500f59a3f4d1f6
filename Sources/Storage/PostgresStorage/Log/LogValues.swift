// Values of the domain in the rows and parameters of statements.

package import Domain
internal import EventLog
public import Postgres

extension Row {
    /// A digest; nil where there is none, or something else in its place.
    func digest(_ name: String) -> Digest? { (self[name] as UnsafeRawBufferPointer?).flatMap { Digest($0) } }
}

extension Timestamp: ColumnValue {
    /// A point in time, in the unit of the domain.
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: rows.unixMicroseconds(row, column) / 1_000)
    }
}

extension Parameter {
    /// The bytes of a digest; NULL where it is not known.
    init(_ digest: Digest?) {
        self = if let digest { .bytes(digest.bytes) } else { .null }
    }
}
