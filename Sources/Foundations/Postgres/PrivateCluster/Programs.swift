internal import EventLoop
internal import Foundation

/// PostgreSQL's programs, all of one version.
struct Programs: Sendable {
    /// Older ones lack what the schema needs.
    static let oldestMajor = 14

    let directory: String
    let major: Int

    var postgres: String { directory + "/postgres" }
    var initdb: String { directory + "/initdb" }
    var pgctl: String { directory + "/pg_ctl" }

    /// Finds the programs of a major version, or else the newest.
    @LoopActor
    static func find(major wanted: Int?) async throws(EmbeddedPostgresError) -> Programs {
        var found: [Programs] = []
        for directory in await candidates() {
            if let programs = await Programs(directory) { found.append(programs) }
        }
        guard let newest = found.max(by: { $0.major < $1.major }), newest.major >= oldestMajor else {
            throw EmbeddedPostgresError(
                "no PostgreSQL server of version \(oldestMajor) or later was found: install it "
                    + "(Debian: apt install postgresql; macOS: brew install postgresql@17), "
                    + "set TIFFIN_POSTGRES_BIN to the directory of its programs, "
                    + "or use another database with --database")
        }
        guard let wanted else { return newest }
        guard let match = found.first(where: { $0.major == wanted }) else {
            throw EmbeddedPostgresError(
                "the data was made by PostgreSQL \(wanted), and only \(newest.major) was found: install "
                    + "PostgreSQL \(wanted), or move the data over with pg_dump or pg_upgrade")
        }
        return match
    }

    /// nil if the programs are not there.
    @LoopActor
    private init?(_ directory: String) async {
        guard access(directory + "/initdb", X_OK) == 0, access(directory + "/postgres", X_OK) == 0 else {
            return nil
        }
        // postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
        guard let answer = try? await Tool.run(directory + "/postgres", ["-V"]), answer.status.isSuccess,
            let version = answer.output.split(separator: " ").dropFirst(2).first,
            let major = Int(version.prefix(while: \.isNumber))
        else { return nil }
        self.directory = directory
        self.major = major
    }

    /// Where the programs may be. If the environment names a place, only that one counts.
    @LoopActor
    private static func candidates() async -> [String] {
        let environment = ProcessInfo.processInfo.environment
        if let given = environment["TIFFIN_POSTGRES_BIN"] { return [given] }
        var candidates: [String] = []
        if let answer = try? await Tool.run("pg_config", ["--bindir"]), answer.status.isSuccess {
            candidates.append(answer.output.trimmingCharacters(in: .newlines))
        }
        // Debian, then Homebrew on either kind of Mac.
        candidates += entries(of: "/usr/lib/postgresql").map { "/usr/lib/postgresql/\($0)/bin" }
        for prefix in ["/opt/homebrew/opt", "/usr/local/opt"] {
            candidates += entries(of: prefix).filter { $0.hasPrefix("postgresql@") }.map {
                "\(prefix)/\($0)/bin"
            }
        }
        candidates += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return candidates
    }

    private static func entries(of directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
