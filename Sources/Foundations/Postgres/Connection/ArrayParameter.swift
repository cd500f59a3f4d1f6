/// A one-dimensional array without nulls, built in PostgreSQL's binary format as its elements come.
///
/// The format: number of dimensions, a flag for nulls, the elements' type; then for the one dimension its length and
/// lower bound; then each element after its length in bytes. All numbers are 32-bit big-endian.
public struct ArrayParameter: Sendable {
    private static let countOffset = 12
    private static let headerSize = 20

    /// The elements' type.
    public let elementType: PostgresType
    /// How many elements there are.
    public private(set) var count: Int32 = 0

    var bytes: [UInt8]

    /// An empty array, with room for this many bytes of elements: 4 for the length of each, and its own.
    public init(of elementType: PostgresType, reserving bytes: Int = 0) {
        self.elementType = elementType
        self.bytes = []
        self.bytes.reserveCapacity(Self.headerSize + bytes)
        self.bytes.appendBigEndian(Int32(1))
        self.bytes.appendBigEndian(Int32(0))
        self.bytes.appendBigEndian(elementType.rawValue)
        self.bytes.appendBigEndian(Int32(0))
        self.bytes.appendBigEndian(Int32(1))
    }

    /// Appends to an array of `int2`.
    public mutating func append(_ value: Int16) {
        precondition(elementType == .int2)
        append(length: 2)
        bytes.appendBigEndian(value)
    }

    /// Appends to an array of `int4`.
    public mutating func append(_ value: Int32) {
        precondition(elementType == .int4)
        append(length: 4)
        bytes.appendBigEndian(value)
    }

    /// Appends to an array of `int8`.
    public mutating func append(_ value: Int64) {
        precondition(elementType == .int8)
        append(length: 8)
        bytes.appendBigEndian(value)
    }

    /// Appends to an array of `timestamptz`.
    public mutating func append(unixMicroseconds: Int64) {
        precondition(elementType == .timestamptz)
        append(length: 8)
        bytes.appendBigEndian(PostgresTime.fromUnix(microseconds: unixMicroseconds))
    }

    /// Appends to an array of `text` or `json`.
    public mutating func append(_ value: String) {
        append { $0.append(contentsOf: value.utf8) }
    }

    /// Appends to an array of `bytea`, or of `text` or `json` whose elements are UTF-8.
    public mutating func append(_ value: some Collection<UInt8>) {
        append { $0.append(contentsOf: value) }
    }

    /// Appends one element of `bytea`, `text` or `json`, which `write` appends to the bytes that it is given.
    public mutating func append(_ write: (inout [UInt8]) -> Void) {
        precondition([.bytea, .text, .json].contains(elementType))
        let lengthOffset = bytes.count
        append(length: 0)
        let start = bytes.count
        write(&bytes)
        // Elements longer than 2 GiB exceed every limit of the callers, and trap.
        bytes.storeBigEndian(Int32(bytes.count - start), at: lengthOffset)
    }

    private mutating func append(length: Int32) {
        bytes.appendBigEndian(length)
        count += 1
        bytes.storeBigEndian(count, at: Self.countOffset)
    }
}
