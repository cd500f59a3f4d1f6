/// Something that is not as it should be.
public struct Finding: Equatable, Sendable {
    /// What kind of thing it is.
    public enum Kind: String, Sendable {
        /// Something stored, shown or counted does not follow from the log, or is not as the migrations made it.
        case difference
        /// Something could not be compared, so it is unknown whether it is right.
        case unknown = "not compared"
        /// The log ends, or goes on otherwise, behind a place that an anchor vouches for.
        case lost
        /// The log itself is not what was written.
        case tampering
    }

    /// What kind of thing it is.
    public var kind: Kind
    /// The partition of the log.
    public var partition: Int
    /// The first event from which it differs, if that is known.
    public var position: Int64?
    /// What it is about: a stream, a batch, a row.
    public var subject: String
    /// What is wrong, in a sentence.
    public var message: String

    /// Something that is not as it should be.
    public init(_ kind: Kind, partition: Int, position: Int64?, subject: String, _ message: String) {
        self.kind = kind
        self.partition = partition
        self.position = position
        self.subject = subject
        self.message = message
    }
}

/// Findings, of which only the first are kept.
public struct Findings: Sendable {
    /// The most that are kept for a partition.
    public static let limit = 100

    /// The first ones.
    public private(set) var kept: [Finding] = []
    /// How many there are in all.
    public private(set) var count = 0
    /// Which kinds there are among all of them.
    public private(set) var kinds: Set<Finding.Kind> = []

    /// None.
    public init() {}

    mutating func add(_ finding: Finding) {
        count += 1
        kinds.insert(finding.kind)
        if kept.count < Findings.limit { kept.append(finding) }
    }

    /// Adds those of another part of the audit.
    public mutating func add(_ other: Findings) {
        for finding in other.kept { add(finding) }
        count += other.count - other.kept.count
        kinds.formUnion(other.kinds)
    }
}
