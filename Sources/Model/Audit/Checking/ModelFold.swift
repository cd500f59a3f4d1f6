internal import Projections

/// The read model of an audit. It is folded at the same time as the other checks of a page, which do not need it:
/// both spend most of their time waiting for memory.
actor ModelFold {
    private(set) var model: ReadModel

    init(partition: Int) {
        model = ReadModel(partition: partition, notesChanges: false)
    }

    func take(_ page: PreparedPage) {
        let events = page.events.span
        for index in events.indices {
            // An event that is there twice has been reported, and is folded once.
            guard events[index].position > model.position else { continue }
            goTo(events[index].position - 1)
            model.apply(events[index].decoded)
        }
    }

    /// Skips positions that have no event: they have been reported, and what follows is still checked.
    func goTo(_ position: Int64) {
        guard model.position < position else { return }
        model.pass(missing: (model.position + 1)...position)
    }
}
