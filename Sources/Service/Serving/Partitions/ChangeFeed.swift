internal import Domain
internal import EventLog
internal import EventLoop

/// Tells which streams have changed, for code that makes something of them and keeps it ready.
@LoopActor
final class ChangeFeed {
    private var observers: [@LoopActor ([StreamName]) -> Void] = []

    /// Gives `observer` the streams of all events that have been folded into a read model, in order; a stream more
    /// than once where it has more than one.
    func observe(_ observer: @escaping @LoopActor ([StreamName]) -> Void) { observers.append(observer) }

    /// The events are folded in.
    func publish(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        publish(events.indices.compactMap { events[$0].stream })
    }

    /// The outlets look otherwise, though nothing happened.
    func publish(_ outlets: Set<Identifier>) {
        publish(outlets.map { StreamName(.outlet, $0) })
    }

    private func publish(_ streams: [StreamName]) {
        for observer in observers { observer(streams) }
    }
}

extension Result<DecodedEvent, CorruptEvent> {
    /// The event's stream; nil if its name is not one of ours.
    var stream: StreamName? {
        switch self {
        case .success(let event): event.stream
        case .failure(let corruption): StreamName(corruption.stream)
        }
    }
}
