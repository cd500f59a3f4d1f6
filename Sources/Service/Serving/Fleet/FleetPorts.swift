package import Application
package import EventLoop
package import Fleet

/// Where servers that share a log find each other.
@LoopActor
package protocol FleetStore: AnyObject {
    /// Says that a server is there, and reads who else is, and who holds which lease.
    func renew(_ server: FleetServer) async throws -> FleetView

    /// Gives leases other holders, each unless somebody was faster. Returns these leases as they are afterwards.
    func change(_ changes: [LeaseChange]) async throws -> [Lease]

    /// Frees the leases of a server that stops.
    func leave(_ server: ServerID) async throws
}

/// What became of a call that was given to another server.
package enum ForwardedOutcome {
    /// It was carried out there.
    case answered(Result<Answer, Failure>)
    /// That server cannot be reached: nothing was sent.
    case notSent
    /// That server ended before it answered.
    case lost
}

/// Connections to other servers.
@LoopActor
package protocol PeerLinks: AnyObject {
    /// Gives a call to a server; it leaves with ``flush()``. Calls of one client to one server are carried out in order.
    ///
    /// - Parameter completion: called once, with the outcome.
    func send(
        _ call: ForwardedCall, to server: FleetServer, completion: @escaping @LoopActor (ForwardedOutcome) -> Void)

    /// Has a server read a partition up to a position; it is told with ``flush()``.
    ///
    /// - Parameter completion: called once, when it has, or is lost.
    func announce(
        _ partition: Int, at position: Int64, to server: FleetServer, completion: @escaping @LoopActor () -> Void)

    /// Sends what has been given.
    func flush()

    /// Connects to these servers, and to no others: a server that ends is noticed as soon as its connection ends.
    func reach(_ servers: [FleetServer])

    /// Called when a server cannot be reached any more, or not at all.
    var onLost: @LoopActor (FleetServer) -> Void { get set }

    /// Called when there is a connection to a server.
    var onReached: @LoopActor (FleetServer) -> Void { get set }

    /// Closes the connections.
    func close()
}
