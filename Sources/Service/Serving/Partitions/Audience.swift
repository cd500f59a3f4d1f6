internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Who hears of what a partition's read model folds in: no one before it is served.
@LoopActor
final class Audience {
    private let catalogue: LiveCatalogue
    private let changes: ChangeFeed
    private var isListening = false
    /// Called when the log turns out to be another one than was read: the model is not of any use any more.
    var onFork: @LoopActor () -> Void = {}
    /// Called when something over several streams has begun or ended.
    var onProcesses: @LoopActor () -> Void = {}
    /// How often something had when it was called last.
    private var processChanges = 0

    init(_ catalogue: LiveCatalogue, _ changes: ChangeFeed) {
        self.catalogue = catalogue
        self.changes = changes
    }

    /// The read model is served from now on.
    func listen() { isListening = true }

    /// The events are folded in.
    func hear(_ events: [Result<DecodedEvent, CorruptEvent>], _ model: borrowing ReadModel) {
        guard isListening else { return }
        catalogue.follow(events, model)
        changes.publish(events)
        guard model.processes.changeCount != processChanges else { return }
        processChanges = model.processes.changeCount
        onProcesses()
    }

    /// The model has taken the place of another, in which those outlets looked otherwise.
    func hear(_ outlets: Set<Identifier>, _ model: borrowing ReadModel) {
        guard isListening else { return }
        catalogue.update(outlets, model)
        changes.publish(outlets)
    }
}
