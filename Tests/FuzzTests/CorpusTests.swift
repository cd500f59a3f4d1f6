import Dispatch
import Foundation
import Testing

/// What the fuzzer has found worth keeping, in the order of the targets.
@Suite struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    @Test(arguments: FuzzTarget.all)
    func `A target keeps its promises for every input of its corpus`(_ target: FuzzTarget) async throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpus.appending(path: target.name), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        let inputs = try files.map { (name: $0.lastPathComponent, bytes: Array(try Data(contentsOf: $0))) }
        // Off Swift's own threads, as a target may wait for others.
        let broken: [String] = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let broken = inputs.compactMap { input in
                    do {
                        try target.check(input.bytes)
                        return nil as String?
                    } catch {
                        return "\(input.name): \(error)"
                    }
                }
                continuation.resume(returning: broken)
            }
        }
        #expect(broken == [])
    }
}
