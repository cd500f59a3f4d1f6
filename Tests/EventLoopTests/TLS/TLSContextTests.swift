import EventLoop
import Foundation
import TestSupport
import Testing

struct TLSContextTests {
    let files: TestCertificates

    init() async throws { files = try await TestCertificates.shared() }

    private func failure(_ certificate: String, _ key: String, _ clientAuthority: String? = nil) -> String? {
        do {
            _ = try TLSContext.server(certificate: certificate, key: key, clientAuthority: clientAuthority)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `Files that cannot be used are named, with the reason`() throws {
        let (certificate, key) = (files.certificate("server"), files.key("server"))
        let other = files.key("client")
        #expect(failure("/no/such.pem", key) == "'/no/such.pem' cannot be read: No such file or directory")
        #expect(failure(certificate, "/no/such.key") == "'/no/such.key' cannot be read: No such file or directory")
        #expect(
            failure(certificate, other)
                == "the key in '\(other)' does not belong to the certificate in '\(certificate)'")
        #expect(failure(key, key)?.hasPrefix("'\(key)' has no certificate that can be used: ") == true)
        #expect(
            failure(certificate, certificate)?.hasPrefix("'\(certificate)' has no private key that can be used: ")
                == true)
        #expect(failure(certificate, key, key)?.hasPrefix("'\(key)' has no certificate that can be used: ") == true)
        #expect(
            failure(files.folder, key)?.hasPrefix("'\(files.folder)' has no certificate that can be used: ") == true)
        #expect(failure(certificate, key, "/no/ca.pem") == "'/no/ca.pem' cannot be read: No such file or directory")
    }

    @Test func `A certificate that has expired is a warning`() throws {
        let context = try files.server("expired")
        #expect(context.warnings.count == 1)
        #expect(context.warnings.first?.contains("expired on \(context.validUntil)") == true)
        #expect(try files.server().warnings.isEmpty)
    }

    @Test func `A key that everybody can read is a warning`() throws {
        let key = "\(files.folder)/\(UUID().uuidString).key"
        try FileManager.default.copyItem(atPath: files.key("server"), toPath: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let context = try TLSContext.server(certificate: files.certificate("server"), key: key)
        #expect(context.warnings == ["every user of this machine can read the key in '\(key)': chmod o= '\(key)'"])
    }
}
