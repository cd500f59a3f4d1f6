internal import Application
internal import EventLoop
internal import TextFormats
internal import Users

/// An entry of the line server's command table: a command of the application, or one about the connection itself.
///
/// A class, so that looking one up copies a single reference.
final class LineCommand: Sendable {
    typealias SessionBody = @LoopActor @Sendable (Session, borrowing Call) throws(Failure) -> Void

    enum Body: Sendable {
        case application(Command)
        case session(SessionBody)
    }

    let declaration: CommandDeclaration
    /// Whether a client may send it while it listens to channels in RESP2, where messages look like replies.
    let isForSubscribers: Bool
    /// Whether it runs between `MULTI` and `EXEC`.
    let isForTransactions: Bool
    let body: Body

    init(_ command: Command) {
        declaration = command.declaration
        isForSubscribers = false
        isForTransactions = false
        body = .application(command)
    }

    /// - Parameters:
    ///   - isForLogin: whether a client may send it before it has logged in.
    ///   - declare: declares the parameters, and makes what runs the command with their keys.
    init(
        _ name: String, _ group: CommandDeclaration.Group, role: Role = .anybody, isForSubscribers: Bool = false,
        isForLogin: Bool = false, isForTransactions: Bool = false, _ summary: String,
        _ declare: (inout ParameterList) -> SessionBody
    ) {
        var parameters = ParameterList(for: name)
        body = .session(declare(&parameters))
        declaration = CommandDeclaration(
            name, group, role: role, isForLogin: isForLogin, effect: .read, summary, parameters)
        self.isForSubscribers = isForSubscribers
        self.isForTransactions = isForTransactions
    }
}
