extension Bitmap {
    /// The rows of pages, which are numbered from 0.
    convenience init(_ pages: [RowPage]) {
        // In the portable format, nothing is done for each row (https://github.com/RoaringBitmap/RoaringFormatSpec).
        let containers = PortableContainer.all(of: pages)
        var bytes: [UInt8] = []
        var offset = 8 + 8 * containers.count
        bytes.reserveCapacity(containers.reduce(offset) { $0 + $1.size })
        // No container is of runs.
        bytes.append(littleEndian: UInt32(12_346))
        bytes.append(littleEndian: UInt32(containers.count))
        for container in containers {
            bytes.append(littleEndian: container.key)
            bytes.append(littleEndian: UInt16(container.count - 1))
        }
        for container in containers {
            bytes.append(littleEndian: UInt32(offset))
            offset += container.size
        }
        for container in containers { container.write(to: &bytes) }
        self.init(portable: bytes)
    }

    /// The rows as pages, up to the last that has some.
    var pages: [RowPage] {
        let rows = rows
        var pages = [RowPage](repeating: .empty, count: rows.last.map { Int($0 / RowPage.size) + 1 } ?? 0)
        for row in rows { pages[Int(row / RowPage.size)].insert(Int(row % RowPage.size)) }
        return pages
    }
}

/// 65,536 rows in Roaring's portable format: a list of their lower halves, or a bit for each.
private struct PortableContainer {
    /// The most rows of a list.
    private static let listed = 4_096
    private static let pages = 65_536 / Int(RowPage.size)
    private static let bytesOfBits = 8_192

    /// The upper half of the rows.
    let key: UInt16
    let count: Int
    private let pages: ArraySlice<RowPage>

    /// Those that have rows.
    static func all(of pages: [RowPage]) -> [PortableContainer] {
        stride(from: 0, to: pages.count, by: Self.pages).compactMap { first in
            let pages = pages[first...].prefix(Self.pages)
            let count = pages.reduce(0) { $0 + $1.count }
            return count == 0 ? nil : PortableContainer(key: UInt16(first / Self.pages), count: count, pages: pages)
        }
    }

    private var isList: Bool { count <= Self.listed }

    /// In bytes.
    var size: Int { isList ? 2 * count : Self.bytesOfBits }

    func write(to bytes: inout [UInt8]) {
        let end = bytes.count + size
        if isList {
            for (number, page) in pages.enumerated() where !page.isEmpty {
                for place in page.places { bytes.append(littleEndian: UInt16(number * Int(RowPage.size) + place)) }
            }
        } else {
            // Pages lie in memory as the format has them.
            pages.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
