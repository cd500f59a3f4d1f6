internal import CommandLineOptions
internal import Domain
internal import Foundation
internal import Users

/// Reads a new password: from a terminal twice and without an echo, and from anything else one line.
enum PasswordPrompt {
    static func read(for name: Identifier) throws(UsageError) -> [UInt8] {
        let password: String
        if isatty(STDIN_FILENO) == 1 {
            password = ask("password of '\(name)': ")
            guard ask("again: ") == password else { throw UsageError("the two passwords differ") }
        } else {
            password = readLine() ?? ""
        }
        let bytes = Array(password.utf8)
        guard PasswordHash.passwordLength.contains(bytes.count), !bytes.contains(0) else {
            let (least, most) = (PasswordHash.passwordLength.lowerBound, PasswordHash.passwordLength.upperBound)
            throw UsageError(
                "a password has \(least) to \(most) bytes, none of them zero, and is read from standard input")
        }
        guard Token(bytes) == nil else { throw UsageError("this is a token; choose another password") }
        return bytes
    }

    private static func ask(_ question: String) -> String {
        var before = termios()
        tcgetattr(STDIN_FILENO, &before)
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        // Before the question: what is typed from then on is not shown, and not dropped.
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        FileHandle.standardError.write(Data(question.utf8))
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine() ?? ""
    }
}
