// The databases of a log: one, or several, of which each partition lives in one.

/// Where a log is kept.
package struct LogDatabases: Sendable {
    /// One of several databases.
    package struct Named: Equatable, Sendable {
        /// What the map calls it.
        package let name: String
        /// A `postgres://` URL, or libpq's keywords and values.
        package let address: String
    }

    /// The most databases of a log.
    package static let limit = 64
    /// The most bytes of a name.
    private static let longestName = 32

    /// The address of the first, which has the users, the relays and the leases.
    package let first: String
    /// Those that a map names; empty for the one that has the whole log.
    package let named: [Named]

    /// One database that has the whole log.
    package init(_ address: String) {
        first = address
        named = []
    }

    /// The databases of a map: a line each, with a name and an address. Empty lines and those that begin with `#` say
    /// nothing.
    ///
    /// - Throws: ``DatabaseMapError`` that says what is wrong with the text.
    package init(map text: String) throws(DatabaseMapError) {
        var named: [Named] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmed
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let place = "line \(index + 1)"
            let end = line.firstIndex { $0.isWhitespace } ?? line.endIndex
            let (name, address) = (String(line[..<end]), String(line[end...].trimmed))
            guard !address.isEmpty else { throw DatabaseMapError("\(place): a name and an address are needed") }
            guard Self.isName(name) else {
                throw DatabaseMapError(
                    "\(place): a name has 1 to \(Self.longestName) small letters, digits, '-' and '_', and begins with "
                        + "a letter; '\(name)' does not")
            }
            if named.contains(where: { $0.name == name }) {
                throw DatabaseMapError("\(place): there is a database '\(name)' already")
            }
            if let other = named.first(where: { $0.address == address }) {
                throw DatabaseMapError("\(place): '\(name)' has the address of '\(other.name)'")
            }
            named.append(Named(name: name, address: address))
        }
        guard let first = named.first else { throw DatabaseMapError("it names no database") }
        guard named.count <= Self.limit else { throw DatabaseMapError("it names more than \(Self.limit) databases") }
        self.first = first.address
        self.named = named
    }

    /// All addresses, the first one first.
    package var addresses: [String] { named.isEmpty ? [first] : named.map(\.address) }

    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= longestName && name.wholeMatch(of: /[a-z][a-z0-9_\-]*/) != nil
    }
}

/// What is wrong with a map of databases, or with what they say of themselves.
package struct DatabaseMapError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, for an operator.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return rest[...last]
    }
}
