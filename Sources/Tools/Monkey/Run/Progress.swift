internal import EventLoop
internal import TextFormats

/// What is shown of a run while it goes on, and where it is written.
@LoopActor
final class Progress {
    private var view: LiveView
    private let columns: () -> Int
    private let write: (String) -> Void

    /// - Parameter write: nil if nothing is to be shown.
    init(isTerminal: Bool, hasColour: Bool, columns: @escaping () -> Int, write: ((String) -> Void)?) {
        view = LiveView(columns: columns(), isTerminal: isTerminal, hasColour: hasColour)
        self.columns = columns
        self.write = write ?? { _ in }
    }

    /// A line that stays.
    func say(_ text: String) {
        write(view.finish() + TerminalText.line(text) + "\n")
    }

    func show(_ snapshot: LiveSnapshot) {
        view.columns = columns()
        write(view.frame(snapshot))
    }

    func finish() { write(view.finish()) }
}
