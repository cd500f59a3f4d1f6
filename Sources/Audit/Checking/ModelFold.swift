internal import Projections

/// The read model of an audit. It is folded beside the other checks of a page, which do not need it: most of what
/// either takes is waiting for memory.
actor ModelFold {
    private(set) var model: ReadModel

    init(partition: Int) {
        model = ReadModel(partition: partition, notesChanges: false)
    }

    func take(_ page: PreparedPage) {
        let events = page.events.span
        for index in events.indices {
            // What is there twice has been told, and is folded once.
            guard events[index].position > model.position else { continue }
            goTo(events[index].position - 1)
            model.apply(events[index].decoded)
        }
    }

    /// Goes past positions that have no event: that has been told, and what follows is still looked at.
    func goTo(_ position: Int64) {
        guard model.position < position else { return }
        model.pass(missing: (model.position + 1)...position)
    }
}
