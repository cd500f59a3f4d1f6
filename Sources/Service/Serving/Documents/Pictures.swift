package import Application
package import Domain
package import EventLog
package import EventLoop
internal import TextFormats

/// Where pictures are kept.
@LoopActor
package protocol PictureStore: AnyObject {
    /// Stores a picture under the digest of its bytes. Returns whether it is there: an outlet may have too many.
    func put(
        _ bytes: [UInt8], _ digest: Digest, mediaType: String, of outlet: Identifier
    ) async throws(EventLogError) -> Bool

    /// The picture with a digest of 64 hexadecimal digits; nil where there is none.
    func picture(_ digest: String) async throws(EventLogError) -> (mediaType: String, bytes: [UInt8])?
}

/// Pictures of menus: stored once, and given to whoever asks for them.
@LoopActor
final class Pictures {
    /// The most bytes of pictures that are kept in memory. Browsers keep them, too, so few are asked for again.
    private static let maximumBytes = 16 << 20

    private let store: (any PictureStore)?
    private let queue = WorkQueue(WorkQueue.Limits(atOnce: 4, atOnceOfCaller: 2, waiting: 1_000, waitingOfCaller: 200))
    private var kept: [String: (mediaType: String, bytes: [UInt8])] = [:]
    private var keptBytes = 0

    init(_ store: (any PictureStore)?) { self.store = store }

    /// Forgets every picture in memory.
    func dropAll() {
        kept = [:]
        keptBytes = 0
    }

    /// Stores a picture of an outlet.
    func store(_ picture: Picture, of outlet: Identifier, for caller: Caller) throws(Failure) -> Response {
        let store = try there()
        let promise = Promise(about: .menu)
        try queue.add(for: caller) {
            do throws(EventLogError) {
                let digest = Digest.of(picture.bytes)
                guard try await store.put(picture.bytes, digest, mediaType: picture.mediaType, of: outlet) else {
                    return promise.fail(Failure(.limit, "outlet '\(outlet)' has as many pictures as it may have"))
                }
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("path", "/pictures/\(digest)")
                writer.endObject()
                promise.keep(.document(writer.bytes))
            } catch {
                promise.fail(Failure(.unavailable, "the picture was not stored, send it again: \(error)"))
            }
        }
        return .promise(promise)
    }

    /// The picture with a digest, as soon as it is read; nil where there is none.
    func picture(
        _ digest: String, for caller: Caller,
        completion: @escaping @LoopActor (Result<(mediaType: String, bytes: [UInt8])?, Failure>) -> Void
    ) {
        let isDigest =
            digest.utf8.count == 2 * Digest.length && digest.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        guard isDigest else { return completion(.success(nil)) }
        if let known = kept[digest] { return completion(.success(known)) }
        do throws(Failure) {
            let store = try there()
            try queue.add(for: caller) { [self] in
                do throws(EventLogError) {
                    let found = try await store.picture(digest)
                    if let found { keep(found, digest) }
                    completion(.success(found))
                } catch {
                    completion(.failure(Failure(.unavailable, "the picture cannot be read: \(error)")))
                }
            }
        } catch {
            completion(.failure(error))
        }
    }

    private func keep(_ picture: (mediaType: String, bytes: [UInt8]), _ digest: String) {
        if keptBytes + picture.bytes.count > Pictures.maximumBytes { dropAll() }
        if kept.updateValue(picture, forKey: digest) == nil { keptBytes += picture.bytes.count }
    }

    private func there() throws(Failure) -> any PictureStore {
        guard let store else { throw Failure(.unavailable, "this server keeps no pictures") }
        return store
    }
}

extension Server {
    /// The picture with a digest of 64 hexadecimal digits, as soon as it is read; nil where there is none.
    package func picture(
        _ digest: String, for caller: Caller,
        completion: @escaping @LoopActor (Result<(mediaType: String, bytes: [UInt8])?, Failure>) -> Void
    ) {
        pictures.picture(digest, for: caller, completion: completion)
    }
}
