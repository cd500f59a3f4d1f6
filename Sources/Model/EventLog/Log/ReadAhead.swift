/// Reads a part of a partition in pages, ahead of the code that takes them: while one page is taken, the next ones are
/// prepared and those after them are read, all at the same time.
///
/// It always ends, whatever positions the log has: a page without events ends it, and a gap is skipped.
public struct ReadAhead<Page: Sendable, Failure: Error>: Sendable {
    /// Events after a position, in order, at most as many as the limit.
    public typealias Read = @Sendable (_ position: Int64, _ limit: Int) async throws(Failure) -> EventPage

    /// Pages that are requested at once, so that the database always has one to work on.
    private static var requestedPages: Int { 3 }
    /// Pages that are prepared at once.
    private static var preparedPages: Int { 2 }

    private let pageLength: Int64
    private let read: Read
    private let prepare: @Sendable (EventPage) async -> Page

    /// - Parameters:
    ///   - pageLength: the most events of a page. The default is small enough that a page prepared on one core is
    ///     still in the caches when another core takes it.
    ///   - read: reads from the log.
    ///   - prepare: does what can be done with each page by itself, such as decoding its events.
    public init(pageLength: Int = 2_000, read: @escaping Read, prepare: @escaping @Sendable (EventPage) async -> Page) {
        self.pageLength = Int64(pageLength)
        self.read = read
        self.prepare = prepare
    }

    /// Passes every event after `start`, up to and including `end`, to the body: in order, in pages.
    public func forEachPage(
        after start: Int64, upTo end: Int64, isolation: isolated (any Actor)? = #isolation,
        _ body: (Page) async throws(Failure) -> Void
    ) async throws(Failure) {
        var requested = start
        var requests: [Request] = []
        var prepared: [Task<Page, Never>] = []
        defer { for request in requests { request.page.cancel() } }
        while true {
            while requests.count < Self.requestedPages, requested < end {
                let request = self.request(after: requested, upTo: end)
                requests.append(request)
                requested = request.end
            }
            if !requests.isEmpty {
                let request = requests.removeFirst()
                var page = try await request.page.value.get()
                if let next = request.next(after: page, end) {
                    for request in requests { request.page.cancel() }
                    requests = []
                    requested = next
                }
                page.removeEvents(after: request.end)
                if !page.isEmpty { prepared.append(Task { [prepare, page] in await prepare(page) }) }
                if prepared.count < Self.preparedPages { continue }
            }
            guard !prepared.isEmpty else { return }
            try await body(await prepared.removeFirst().value)
        }
    }

    /// A page on its way, with positions up to ``end``.
    private struct Request {
        var end: Int64
        var page: Task<Result<EventPage, Failure>, Never>

        /// Where to continue after a page that does not reach ``end`` without gaps; nil to continue as planned.
        func next(after page: EventPage, _ last: Int64) -> Int64? {
            guard let first = page.firstPosition, let reached = page.lastPosition else { return last }
            if first > end { return first - 1 }
            return reached < end ? reached : nil
        }
    }

    private func request(after position: Int64, upTo end: Int64) -> Request {
        let (next, isBeyond) = position.addingReportingOverflow(pageLength)
        let last = isBeyond ? end : min(next, end)
        return Request(
            end: last,
            page: Task { [read] in
                do throws(Failure) {
                    return .success(try await read(position, Int(last - position)))
                } catch {
                    return .failure(error)
                }
            })
    }
}
