// The executable: `Monkey` with this process's arguments, outputs and exit code.

internal import Monkey

@main
struct TiffinMonkey {
    static func main() {}
}
