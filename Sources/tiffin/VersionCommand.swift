internal import Server

enum VersionCommand {
    static func run() { Terminal.print("tiffin \(Server.version)") }
}
