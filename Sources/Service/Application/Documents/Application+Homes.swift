internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

extension Application {
    /// The outlet's home; nil where there is no such outlet.
    func home(of outlet: Identifier) throws(Failure) -> Home? {
        if let home = homes[outlet] { return home }
        guard let record = try self.outlet(outlet) else { return nil }
        if let count = homes.tooLarge[outlet] { throw .tooLarge(count, limit: documentLimit) }
        let home = Home(revision: record.revision, document: HomeDocument.bytes(of: record))
        guard home.document.count <= documentLimit else {
            homes.tooLarge[outlet] = home.document.count
            throw .tooLarge(home.document.count, limit: documentLimit)
        }
        homes.keep(home, of: outlet)
        return home
    }

    /// What leads from the outlet's home of a revision to today's, at once or when the old one has been folded from
    /// the log; nil where there is no such outlet.
    func update(
        of outlet: Identifier, since revision: Int64, for caller: Caller,
        completion: @escaping @LoopActor (Result<HomeUpdate?, Failure>) -> Void
    ) {
        do throws(Failure) {
            guard let home = try home(of: outlet) else { return completion(.success(nil)) }
            if let update = patch(of: outlet, from: revision, to: home) { return completion(.success(update)) }
            guard (1..<home.revision).contains(revision) else { return completion(.success(.whole(home))) }
            archive.answer(.revision(revision, of: outlet), for: caller) { [self] old in
                // Without the old document the client gets the whole new one.
                if let old = try? old.get() {
                    homes.keepPast(Home(revision: revision, document: old.bytes(.none)), of: outlet)
                }
                completion(
                    Result { () throws(Failure) in
                        try self.home(of: outlet).map { patch(of: outlet, from: revision, to: $0) ?? .whole($0) }
                    })
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// The patch from the outlet's home of a revision to the one that a topic's subscribers know, at once or when the
    /// old one has been folded from the log; nil where that cannot be known.
    func patch(
        ofHome topic: Topic, from revision: Int64, for caller: Caller,
        completion: @escaping @LoopActor ([UInt8]?) -> Void
    ) {
        func kept() -> [UInt8]? {
            guard let sent = topic.sent else { return nil }
            let home = Home(revision: sent.revision, document: sent.json)
            return homes.patch(from: revision, to: home, of: topic.id).map(configuration.sent)
        }
        if let patch = kept() { return completion(patch) }
        guard let sent = topic.sent, (1..<sent.revision).contains(revision) else { return completion(nil) }
        archive.answer(.revision(revision, of: topic.id), for: caller) { [self] old in
            if let old = try? old.get() {
                homes.keepPast(Home(revision: revision, document: old.bytes(.none)), of: topic.id)
            }
            completion(kept())
        }
    }

    private func patch(of outlet: Identifier, from revision: Int64, to home: Home) -> HomeUpdate? {
        if revision == home.revision { return .patch(from: revision, to: revision, Array("[]".utf8)) }
        return homes.patch(from: revision, to: home, of: outlet).map {
            .patch(from: revision, to: home.revision, $0)
        }
    }
}
