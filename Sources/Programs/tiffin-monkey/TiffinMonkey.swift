// The executable: `MonkeyCommand` with this process's arguments, outputs and exit code.

internal import EventLoop
internal import Foundation
internal import Monkey

@main
struct TiffinMonkey {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        Task { @LoopActor in
            let command = MonkeyCommand(
                environment: ProcessInfo.processInfo.environment,
                output: { FileHandle.standardOutput.write(Data($0.utf8)) },
                errors: { FileHandle.standardError.write(Data($0.utf8)) },
                terminal: isatty(STDERR_FILENO) == 1 ? MonkeyCommand.Terminal(columns: columns) : nil)
            exit(await command.run(arguments))
        }
        LoopActor.run()
    }

    /// How wide the terminal is now.
    @Sendable private static func columns() -> Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
