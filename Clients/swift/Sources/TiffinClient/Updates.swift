import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where a topic stands.
public enum Update<Document: Sendable>: Sendable {
    /// What the server has now.
    case live(Document, revision: Int)
    /// The stream was cut and is being opened again. The document is the last one that came, if any.
    case away(Document?)
    /// There is no such document, or it cannot be shown, and then the error says why.
    case gone(TiffinError?)

    /// The document; nil if it is gone or none came yet.
    public var document: Document? {
        switch self {
        case .live(let document, _): document
        case .away(let document): document
        case .gone: nil
        }
    }
}

/// Each state of a topic, from now on. What comes faster than it is taken is left out but for the latest.
public typealias Updates<Document: Sendable> = AsyncThrowingStream<Update<Document>, any Error>

extension Connection {
    /// The server sends a comment every 15 seconds.
    private static let longestSilence = 40.0
    private static let longestPauseOfStreams = 15.0

    private struct Message: Decodable {
        struct Refusal: Decodable {
            var code: TiffinError.Code
            var message: String
        }

        var from: Int
        var to: Int
        var patch: [Operation]?
        var error: Refusal?
    }

    /// Each state of a topic, such as `order:2c0f…`.
    ///
    /// After a cut it goes on from the revision that it has, so nothing is missed. A document comes whole; changes that
    /// follow closely come as one. It ends with a ``TiffinError`` if the server refuses the topic, and once it has been
    /// away for `patience`.
    func follow<Document: Decodable & Sendable>(_ topic: String, patience: Duration?) -> Updates<Document> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    try await follow(topic, patience) { continuation.yield($0) }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow<Document: Decodable & Sendable>(
        _ topic: String, _ patience: Duration?, _ tell: (Update<Document>) -> Void
    ) async throws {
        var (document, revision): (JSON, Int?) = (.null, nil)
        var (attempt, isLive, heard) = (0, false, ContinuousClock.now)
        while true {
            do {
                let opened = revision.map { "\(topic)@\($0)" } ?? topic
                for try await data in events(requestForEvents("/v1/stream", topic: opened)) {
                    (attempt, isLive, heard) = (-1, true, .now)
                    let message = try JSONDecoder().decode(Message.self, from: data)
                    if let error = message.error {
                        tell(.gone(TiffinError(error.code, error.message, status: 200)))
                        continue
                    }
                    guard let patch = message.patch else { throw PatchError() }
                    if !(patch.count == 1 && patch[0].isWhole), message.from != revision {
                        if let revision, message.to <= revision { continue }
                        throw PatchError()
                    }
                    document = try document.applying(patch)
                    revision = message.to
                    tell(document == .null ? .gone(nil) : .live(try document.decoded(), revision: message.to))
                }
            } catch is PatchError {
                // The next stream begins with the whole document.
                (document, revision) = (.null, nil)
            } catch let error as TiffinError {
                // A stream that was cut may still count among those that are open.
                guard error.isTemporary || error.code == .limit && revision != nil else { throw error }
                if let patience, heard.duration(to: .now) > patience { throw error }
            }
            try Task.checkCancellation()
            attempt += 1
            if isLive {
                isLive = false
                tell(.away(document == .null ? nil : try document.decoded()))
            }
            try await Task.sleep(for: Connection.pause(attempt, longest: Connection.longestPauseOfStreams))
        }
    }

    /// The data of events, until the stream is cut.
    private func events(_ request: URLRequest) -> AsyncThrowingStream<Data, any Error> {
        var request = request
        request.timeoutInterval = Connection.longestSilence
        return AsyncThrowingStream { [request] continuation in
            let reader = EventReader(continuation)
            let session = URLSession(configuration: Connection.configuration, delegate: reader, delegateQueue: nil)
            let task = session.dataTask(with: request)
            continuation.onTermination = { _ in
                task.cancel()
                session.finishTasksAndInvalidate()
            }
            task.resume()
        }
    }
}

/// Cuts what arrives into events. The session calls it from one queue.
private final class EventReader: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
    /// Of the line that is not complete yet.
    private var rest = Data()
    private var data = Data()
    /// An answer that is no stream: what is wrong.
    private var refusal: HTTPURLResponse?

    init(_ continuation: AsyncThrowingStream<Data, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(
        _: URLSession, dataTask _: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse, response.statusCode != 200 { refusal = response }
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive bytes: Data) {
        rest.append(bytes)
        guard refusal == nil else { return }
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[rest.startIndex..<end])
            rest = Data(rest[(end + 1)...])
        }
    }

    private func take(_ line: Data) {
        if line.isEmpty {
            if !data.isEmpty { continuation.yield(data) }
            data = Data()
        } else if line.starts(with: Data("data:".utf8)) {
            data.append(line.dropFirst(line.dropFirst(5).first == UInt8(ascii: " ") ? 6 : 5))
        }
    }

    func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let refusal {
            continuation.finish(throwing: Connection.problem(refusal, rest))
        } else {
            continuation.finish(
                throwing: TiffinError(.lost, "the stream was cut: \(error?.localizedDescription ?? "it ended")"))
        }
    }
}
