internal import Application
internal import EventLog
package import EventLoop
internal import TextFormats
package import Tracing

/// Says how long commands took whose clients trace them.
@LoopActor
package final class CallTracer {
    private let exporter: SpanExporter
    private let now: () -> UInt64

    /// - Parameter now: nanoseconds since 1970.
    package init(_ exporter: SpanExporter, now: @escaping () -> UInt64) {
        self.exporter = exporter
        self.now = now
    }

    /// How many spans were sent, and how many were lost.
    var counts: (sent: Int, lost: Int) { (exporter.sent, exporter.lost) }

    /// Sends what is left.
    package func close() async { await exporter.close() }

    /// The span of a command that begins now.
    func begin(_ name: String, of trace: TraceParent, about stream: StreamName?) -> Span {
        let attributes = stream.map { [(name: "tiffin.stream", value: "\($0)")] } ?? []
        return Span(name, of: trace, began: now(), attributes: attributes)
    }

    /// The command is answered.
    func end(_ span: Span, _ result: Result<Answer, Failure>) {
        var span = span
        span.ended = max(span.began, now())
        if case .failure(let failure) = result {
            span.attributes.append(("error.type", failure.code.word))
            // What a client asked wrongly is no failure of a server, as OpenTelemetry has it.
            if [.busy, .unavailable, .unknown, .corrupt, .loading].contains(failure.code) {
                span.failure = failure.message
            }
        }
        exporter.add(span)
    }
}
