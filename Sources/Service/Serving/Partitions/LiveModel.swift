internal import Application
internal import EventLog
internal import EventLoop
internal import Projections

/// The read model of a partition as it is served, shared by the code that folds into it and the code that saves it.
final class LiveModel {
    /// What it is now. Read and changed in place: reading a stored property of a class would copy it.
    var value: ReadModel {
        _read { yield stored }
        _modify { yield &stored }
    }
    private var stored: ReadModel

    /// What was folded in since another one began to catch up with it; nil where none does.
    private(set) var tail: [Result<DecodedEvent, CorruptEvent>]?

    init(_ value: ReadModel) {
        stored = value
    }

    /// Answers a question about the model, which does not change. `inout` all the same: what is read from a class's
    /// property would be copied first, with a reference count for each of its tables.
    func ask<Answer, Failure>(
        _ question: (inout ReadModel) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try question(&stored)
    }

    // MARK: Following the log

    /// Folds the next events in; see `ReadModel`.
    @LoopActor
    func fold(
        _ events: [Result<DecodedEvent, CorruptEvent>], _ configuration: Configuration
    ) -> [CorruptEvent] {
        tail?.append(contentsOf: events)
        #if DEBUG
            if let fault = configuration.plantedFault { return fault.fold(events, into: &value) }
        #endif
        return value.apply(events)
    }

    /// Goes past positions at which the log has no event, or none that is wanted here.
    func pass(missing positions: ClosedRange<Int64>) {
        // A model that catches up has to begin again: events alone cannot tell it what it lacks.
        tail = nil
        value.pass(missing: positions)
    }

    // MARK: Being replaced

    /// From here on, what is folded in is kept for a model that stands where this one stands now: its position.
    func beginReplacement() -> Int64 {
        tail = []
        return value.position
    }

    /// Takes the other model, once it stands where this one stood at ``beginReplacement()`` and so much was folded
    /// since that it can be made up for at once. Returns whether it did.
    func replace(with other: consuming ReadModel, tailLimit: Int) -> Bool {
        guard let missed = tail, missed.count <= tailLimit, other.position + Int64(missed.count) == value.position
        else {
            tail = nil
            return false
        }
        tail = nil
        other.apply(missed)
        value = other
        return true
    }
}
