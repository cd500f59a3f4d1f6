internal import Application

enum VersionCommand {
    static func run() { Terminal.print("tiffin \(Application.version)") }
}
