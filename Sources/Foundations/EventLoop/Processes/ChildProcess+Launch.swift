internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension ChildProcess {
    /// What to start, and how.
    public struct Launch: Sendable {
        /// Where a program's standard input comes from.
        public enum Input: Sendable {
            /// The null device.
            case none
            /// A pipe that this process holds open until `closeInput()`, or until it dies itself.
            case pipe
        }

        /// Where one of a program's outputs goes.
        public enum Output: Sendable {
            /// To the null device.
            case none
            /// To this process's own.
            case inherit
            /// To an open file descriptor.
            case descriptor(Int32)
            /// Kept, up to this many bytes; the rest is read and dropped.
            case capture(limit: Int)
        }

        /// An account of this machine.
        public struct Account: Sendable {
            /// The user's id.
            public let user: UInt32
            /// The group's id.
            public let group: UInt32

            /// An account with these ids.
            public init(user: UInt32, group: UInt32) {
                self.user = user
                self.group = group
            }
        }

        /// The program: a path, or a name looked up in `PATH`.
        public var executable: String
        /// Its arguments, without its own name.
        public var arguments: [String]
        /// Its whole environment; nil for a copy of this process's.
        public var environment: [String: String]?
        /// Its working directory; nil for this process's.
        public var workingDirectory: String?
        /// The account it runs as; nil for this process's. Supplementary groups are dropped.
        public var account: Account?
        /// Runs it in a session of its own, which a terminal's Ctrl-C does not reach.
        public var newSession = false
        /// Its standard input.
        public var input = Input.none
        /// Its standard output.
        public var output = Output.inherit
        /// Its standard error.
        public var errors = Output.inherit

        /// A program with its arguments, and defaults for everything else.
        public init(_ executable: String, _ arguments: [String] = []) {
            self.executable = executable
            self.arguments = arguments
        }

        /// libuv's form of this, valid during `body`.
        @LoopActor
        func withOptions<Result>(
            _ standardIO: inout [uv_stdio_container_t], _ body: (inout uv_process_options_t) -> Result
        ) -> Result {
            var options = uv_process_options_t()
            if newSession { options.flags |= UV_PROCESS_DETACHED.rawValue }
            if let account {
                options.flags |= UV_PROCESS_SETUID.rawValue | UV_PROCESS_SETGID.rawValue
                options.uid = account.user
                options.gid = account.group
            }
            var strings: [UnsafeMutablePointer<CChar>?] = []
            defer { for string in strings { free(string) } }
            func copy(_ string: String) -> UnsafeMutablePointer<CChar>? {
                strings.append(strdup(string))
                return strings.last!
            }
            let file = copy(executable)
            options.file = UnsafePointer(file)
            options.cwd = workingDirectory.flatMap { UnsafePointer(copy($0)) }
            var arguments = [file] + arguments.map(copy) + [nil]
            var environment = environment.map { $0.map { copy("\($0.key)=\($0.value)") } + [nil] }
            return arguments.withUnsafeMutableBufferPointer { arguments in
                standardIO.withUnsafeMutableBufferPointer { standardIO in
                    options.args = arguments.baseAddress
                    options.stdio = standardIO.baseAddress
                    options.stdio_count = Int32(standardIO.count)
                    guard environment != nil else { return body(&options) }
                    return environment!.withUnsafeMutableBufferPointer { environment in
                        options.env = environment.baseAddress
                        return body(&options)
                    }
                }
            }
        }
    }
}
