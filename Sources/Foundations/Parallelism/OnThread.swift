internal import Foundation

/// Runs a body that blocks on a thread of its own, so that nothing else waits for it.
public func onThread<Value: Sendable, Failure>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async -> Result<Value, Failure> {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
    }
}
