/// Lets tasks run one at a time, in an order that its owner decides: so the same decisions give the same run.
actor Scheduler {
    private var gates: [CheckedContinuation<Void, Never>] = []
    private var running = 0
    private var owner: CheckedContinuation<Void, Never>?

    /// How many tasks wait to go on.
    var waiting: Int { gates.count }

    /// Waits, as a task, until it is its turn again.
    func pause() async {
        await withCheckedContinuation { gate in
            gates.append(gate)
            leave()
        }
    }

    /// A task begins.
    func enter() { running += 1 }

    /// A task ends.
    func leave() {
        running -= 1
        guard running == 0 else { return }
        owner?.resume()
        owner = nil
    }

    /// Lets a waiting task go on until it waits again or ends.
    func open(_ index: Int) async {
        running += 1
        gates.remove(at: index).resume()
        await settle()
    }

    /// Waits until no task runs.
    func settle() async {
        guard running > 0 else { return }
        await withCheckedContinuation { owner = $0 }
    }
}
