public import EventLoop
internal import HTTP
internal import Parallelism
internal import TextFormats

/// Sends spans to a collector, by OTLP over HTTP in JSON. Nothing waits for it: what the collector does not take is
/// counted and forgotten.
@LoopActor
public final class SpanExporter {
    /// The most spans that wait.
    static let maximumWaiting = 4_096
    /// The most spans of a request.
    static let maximumOfRequest = 512
    private static let milliseconds: UInt64 = 1_000
    /// How long a request may take.
    private static let seconds = 2

    private let url: String
    private let resource: [(name: String, value: String)]
    private let say: (String) -> Void
    private var random = SystemRandomNumberGenerator()
    private var waiting: [Span] = []
    private var timer: LoopTimer?
    private var isSending = false
    private var isFailing = false

    /// How many spans a collector has taken.
    public private(set) var sent = 0
    /// How many were forgotten, as they were too many or the collector did not take them.
    public private(set) var lost = 0

    /// - Parameters:
    ///   - url: of the collector, by `http` or `https`, to which `/v1/traces` is added.
    ///   - service: what the spans are of, by OpenTelemetry's names for a resource.
    ///   - say: called when the collector begins to refuse spans, and when it takes them again.
    public init(to url: String, of service: [(name: String, value: String)], say: @escaping (String) -> Void) {
        self.url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/v1/traces"
        resource = service
        self.say = say
    }

    /// Has a span sent within a second, if there is room.
    public func add(_ span: Span) {
        guard waiting.count < SpanExporter.maximumWaiting else { return lost += 1 }
        waiting.append(span)
        if waiting.count >= SpanExporter.maximumOfRequest { send() }
        if timer == nil {
            timer = LoopTimer(milliseconds: SpanExporter.milliseconds) { [weak self] in
                self?.timer = nil
                self?.send()
            }
        }
    }

    /// Sends what waits, as far as one request goes.
    public func close() async {
        timer?.cancel()
        timer = nil
        if let (post, count) = next() { took(count, await onThread { () throws(HTTPError) in try post.send() }) }
    }

    private func send() {
        guard !isSending, let (post, count) = next() else { return }
        isSending = true
        LoopActor.task { [weak self] in
            let result = await onThread { () throws(HTTPError) in try post.send() }
            guard let self else { return }
            isSending = false
            took(count, result)
            // What came meanwhile has waited long enough where its timer has gone off.
            if timer == nil || waiting.count >= SpanExporter.maximumOfRequest { send() }
        }
    }

    /// The next request, and how many spans it has; nil where none waits.
    private func next() -> (post: HTTPPost, count: Int)? {
        let spans = Array(waiting.prefix(SpanExporter.maximumOfRequest))
        guard !spans.isEmpty else { return nil }
        waiting.removeFirst(spans.count)
        let post = HTTPPost(
            url, headers: [("Content-Type", "application/json")], body: request(spans), seconds: SpanExporter.seconds)
        return (post, spans.count)
    }

    private func took(_ count: Int, _ result: Result<Void, HTTPError>) {
        switch result {
        case .success:
            sent += count
            if isFailing { say("the collector takes spans again") }
            isFailing = false
        case .failure(let failure):
            lost += count
            // The address may have a secret in it.
            if !isFailing { say("spans are lost: the address of their collector \(failure)") }
            isFailing = true
        }
    }

    /// An `ExportTraceServiceRequest`.
    func request(_ spans: [Span]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("resourceSpans")
        writer.beginArray()
        writer.beginObject()
        writer.key("resource")
        writer.beginObject()
        Span.write(resource, to: &writer)
        writer.endObject()
        writer.key("scopeSpans")
        writer.beginArray()
        writer.beginObject()
        writer.key("spans")
        writer.beginArray()
        // All zeros is no id.
        for span in spans { span.write(to: &writer, id: .random(in: 1 ... .max, using: &random)) }
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
