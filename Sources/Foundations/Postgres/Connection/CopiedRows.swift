/// Some of the rows that ``Transaction/copy(_:_:_:)`` gives.
///
/// Rows and columns count from 0. Reading a column as another type, and reading past the last row or column, are
/// programmer errors and trap.
public final class CopiedRows: Sendable {
    /// How many rows there are.
    public let count: Int
    private let page: CopiedPage
    private let types: [PostgresType]
    /// Where each value begins, row by row. Its length is before it.
    private let offsets: [Int]

    /// Reads PostgreSQL's binary format for `COPY`. A row is its number of columns, and for each of them its length and
    /// its bytes. The first row comes after a header, and after the last one there is another number of columns, -1.
    init(_ page: CopiedPage, _ types: [PostgresType], isFirst: Bool) throws(PostgresError) {
        let bytes = page.bytes
        var offset = 0
        func skip(_ count: Int) throws(PostgresError) {
            guard count >= 0, count <= bytes.count - offset else { throw CopiedRows.malformed("they end early") }
            offset += count
        }
        func next<Integer: FixedWidthInteger & BitwiseCopyable>(_ type: Integer.Type) throws(PostgresError) -> Int {
            let start = offset
            try skip(MemoryLayout<Integer>.size)
            return Int(bytes.loadBigEndian(at: start, as: type))
        }
        if isFirst {
            guard bytes.starts(with: CopiedRows.signature) else {
                throw CopiedRows.malformed("the signature is missing")
            }
            // Flags, and an extension.
            try skip(CopiedRows.signature.count + 4)
            try skip(next(Int32.self))
        }
        var offsets: [Int] = []
        while offset < bytes.count {
            let columnCount = try next(Int16.self)
            if columnCount == -1, offset == bytes.count { break }
            guard columnCount == types.count else {
                throw CopiedRows.malformed("a row has \(columnCount) columns instead of \(types.count)")
            }
            for type in types {
                let size = try next(Int32.self)
                guard size >= 0 else { throw CopiedRows.malformed("a value is null") }
                guard type.fixedSize.map({ $0 == size }) ?? true else {
                    throw CopiedRows.malformed("a value has \(size) bytes, which is another type's size")
                }
                offsets.append(offset)
                try skip(size)
            }
        }
        count = offsets.count / types.count
        self.page = page
        self.types = types
        self.offsets = offsets
    }

    /// A value's bytes: those of a `bytea`, the UTF-8 of a `text`. They are valid as long as this object lives.
    public func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let offset = offset(row, column)
        let size = Int(page.bytes.loadBigEndian(at: offset - 4, as: Int32.self))
        return UnsafeRawBufferPointer(rebasing: page.bytes[offset..<offset + size])
    }

    /// An `int4`.
    public func int4(_ row: Int, _ column: Int) -> Int32 { integer(row, column, .int4) }

    /// An `int8`.
    public func int8(_ row: Int, _ column: Int) -> Int64 { integer(row, column, .int8) }

    private func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ row: Int, _ column: Int, _ type: PostgresType
    ) -> Integer {
        let offset = offset(row, column)
        precondition(types[column] == type, "column \(column) is not of this type")
        return page.bytes.loadBigEndian(at: offset)
    }

    private func offset(_ row: Int, _ column: Int) -> Int {
        precondition(row >= 0 && row < count && column >= 0 && column < types.count, "no such row or column")
        return offsets[row * types.count + column]
    }

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0]

    private static func malformed(_ reason: String) -> PostgresError {
        PostgresError(.server, .invalidBinaryRepresentation, "the rows of a copy cannot be read: \(reason)")
    }
}

extension PostgresType {
    /// How many bytes each value has; nil if they have different numbers.
    fileprivate var fixedSize: Int? {
        switch self {
        case .int4: 4
        case .int8: 8
        default: nil
        }
    }
}

/// Memory for rows, filled by a connection and then only read.
final class CopiedPage: @unchecked Sendable {
    // Unchecked because of the memory: a connection writes to it before it gives the page away.

    private let memory: UnsafeMutableRawBufferPointer
    private var length = 0

    init(capacity: Int) {
        memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// What it has been filled with, valid as long as this object lives.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<length]) }

    /// Appends a row if there is room for it.
    func append(_ row: UnsafeRawBufferPointer) -> Bool {
        guard row.count <= memory.count - length else { return false }
        UnsafeMutableRawBufferPointer(rebasing: memory[length...]).copyMemory(from: row)
        length += row.count
        return true
    }
}
