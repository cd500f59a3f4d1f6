internal import CommandLineOptions
internal import EventLoop

/// What `--help` prints.
@LoopActor
enum MonkeyHelp {
    static var text: String {
        """
        \(MonkeyOption.syntax.usage)

        Loads a Tiffin server with customers and merchants, checks every answer against a model of its own, and reads
        the log at the end to see whether it explains everything that was acknowledged. Without options: the local
        server, everything at random, ten seconds.

        Options:
        \(MonkeyOption.syntax.optionTable)

        Scenarios:
        \(HelpTable.text(Scenarios.all.map { ($0.name, $0.summary) }))

        A file mixes them: {"scenarios": {"cart": 3, "browse": 1}}.

        Exit codes:
          0  every check, threshold and comparison held
          1  the server did something it should not have
          2  a threshold failed, or it is worse than the baseline
          3  it could not be run, or its options cannot be understood
          4  what became of some command could not be learnt

        """
    }
}
