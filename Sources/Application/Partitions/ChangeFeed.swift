internal import Domain
internal import EventLog
internal import EventLoop

/// Tells which streams have changed, to whoever keeps something ready that is made of them.
@LoopActor
final class ChangeFeed {
    private var observers: [@LoopActor (StreamName) -> Void] = []

    /// Calls `observer` for every event that has been folded into a read model, in order; more than once for a
    /// stream where it has more than one.
    func observe(_ observer: @escaping @LoopActor (StreamName) -> Void) { observers.append(observer) }

    /// The events are folded in.
    func publish(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        for index in events.indices {
            guard let stream = events[index].stream else { continue }
            for observer in observers { observer(stream) }
        }
    }

    /// The outlets look otherwise, though nothing happened.
    func publish(_ outlets: Set<Identifier>) {
        for outlet in outlets {
            for observer in observers { observer(StreamName(.outlet, outlet)) }
        }
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
