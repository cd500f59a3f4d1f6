/// A server, as it announces itself.
public struct FleetServer: Equatable, Sendable {
    /// Which it is.
    public var id: ServerID
    /// Where clients and other servers reach it: host and port, with a colon between them.
    public var address: String
    /// What other servers prove to it that they belong to the fleet with: 32 bytes.
    public var secret: [UInt8]
    /// How long ago it renewed, by the database's clock, in milliseconds.
    public var silence: UInt64

    /// A server that renewed just now, or some milliseconds ago.
    public init(id: ServerID, address: String, secret: [UInt8], silence: UInt64 = 0) {
        self.id = id
        self.address = address
        self.secret = secret
        self.silence = silence
    }
}

/// Who decides a partition, if it is there.
public struct Lease: Equatable, Sendable {
    /// The partition's number.
    public var partition: Int
    /// The server that decides it; nil for nobody in particular.
    public var holder: ServerID?
    /// How often the lease has changed hands. It only rises.
    public var term: Int64

    /// A lease.
    public init(partition: Int, holder: ServerID?, term: Int64) {
        self.partition = partition
        self.holder = holder
        self.term = term
    }
}

/// What the database says of the fleet at one moment.
public struct FleetView: Equatable, Sendable {
    /// Every server that has announced itself, also those that are silent.
    public var servers: [FleetServer]
    /// The lease of each partition.
    public var leases: [Lease]

    /// What the database says.
    public init(servers: [FleetServer], leases: [Lease]) {
        self.servers = servers
        self.leases = leases
    }
}

/// A lease that is to get another holder, if nobody was faster.
public struct LeaseChange: Equatable, Sendable {
    /// The partition's number.
    public var partition: Int
    /// The term that the lease has now. With another, it stays as it is.
    public var term: Int64
    /// Who is to hold it.
    public var holder: ServerID

    /// A change of a lease.
    public init(partition: Int, term: Int64, holder: ServerID) {
        self.partition = partition
        self.term = term
        self.holder = holder
    }
}
