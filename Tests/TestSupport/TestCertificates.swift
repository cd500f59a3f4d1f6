import Foundation

/// Certificates of this test run, made by the `openssl` tool: an authority, and what it signed for `localhost` and for
/// a client; another authority; a certificate that has expired.
package struct TestCertificates: Sendable {
    /// Where the files are.
    package let folder: String

    /// Those of this process. They are made at the first use, and no loop waits for that.
    package static func shared() async throws -> TestCertificates {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: made) }
        }
    }
    private static let made = Result { try TestCertificates() }

    private init() throws {
        folder = try TemporaryDirectory.make(openToAll: false)
        let script = """
            set -e
            cd "$1"
            authority() {
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
                    -subj "/CN=Test authority $1" -keyout "$1.key" -out "$1.pem"
            }
            signed() {
                printf 'subjectAltName=%s\\n' "$4" >"$1.ext"
                openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
                    -keyout "$1.key" -out "$1.csr"
                openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$3" \
                    -extfile "$1.ext" -out "$1.pem"
            }
            authority ca
            authority other-ca
            signed server ca 2 DNS:localhost,IP:127.0.0.1
            signed renewed ca 2 DNS:localhost,IP:127.0.0.1
            signed elsewhere ca 2 DNS:tiffin.example
            signed expired ca -1 DNS:localhost,IP:127.0.0.1
            signed client ca 2 DNS:client
            signed stranger other-ca 2 DNS:client
            """
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script, "sh", folder]
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else { throw Failure() }
    }

    private struct Failure: Error {}

    /// The certificate with that name.
    package func certificate(_ name: String) -> String { "\(folder)/\(name).pem" }
    /// Its private key.
    package func key(_ name: String) -> String { "\(folder)/\(name).key" }
}
