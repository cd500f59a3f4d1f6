package import EventLoop
internal import Foundation
internal import HTTP

/// A ``Witness`` behind HTTP. Each connection is for one request, and for some seconds.
@LoopActor
package final class WitnessServer {
    private static let longestSeconds: UInt64 = 10
    private static let mostConnections = 100

    private let witness: Witness
    private let say: @LoopActor (String) -> Void
    private var listener: TCPListener?
    private var openCount = 0

    /// - Parameter say: told, for an operator, what cannot be done.
    package init(_ witness: Witness, say: @escaping @LoopActor (String) -> Void) {
        self.witness = witness
        self.say = say
    }

    /// Listens. Returns the address.
    package func listen(host: String, port: UInt16) throws(LoopError) -> String {
        let listener = try TCPListener(host: host, port: port) { [weak self] in self?.serve($0) }
        self.listener = listener
        return listener.address
    }

    /// Listens no longer.
    package func close() { listener?.close() }

    private func serve(_ connection: TCPConnection) {
        guard openCount < WitnessServer.mostConnections else { return connection.close() }
        openCount += 1
        var (input, parser) = ([UInt8](), HTTPRequestParser())
        let deadline = LoopTimer(milliseconds: WitnessServer.longestSeconds * 1_000) { connection.close() }
        connection.onEnd = { connection.close() }
        connection.onClose = { [weak self] _ in
            deadline.cancel()
            self?.openCount -= 1
        }
        connection.startReading { [weak self] bytes in
            input += bytes
            guard let answer = self?.answer(to: input, &parser) else {
                if parser.takeContinue() { HTTPAnswer.carryOn.withUnsafeBytes { connection.write($0) } }
                return
            }
            connection.stopReading()
            var output: [UInt8] = []
            HTTPAnswer(
                HTTPStatus(rawValue: answer.status) ?? .internalError, fields: [("Content-Type", answer.type)],
                body: Array(answer.body.utf8)[...]
            ).write(
                to: &output, date: HTTPDate.text(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)),
                keepsAlive: false)
            output.withUnsafeBytes { connection.write($0) }
            connection.closeAfterWrites()
        }
    }

    /// The answer to what has come so far; nil if that is no whole request.
    private func answer(to input: [UInt8], _ parser: inout HTTPRequestParser) -> Witness.Answer? {
        input.withUnsafeBytes { bytes in
            switch parser.next(bytes, within: HTTPLimits()) {
            case .incomplete: nil
            case .request(let request, _): answer(request)
            case .failure(let refusal):
                Witness.Answer(status: refusal.status.rawValue, body: "\(refusal.message)\n")
            }
        }
    }

    private func answer(_ request: HTTPRequest) -> Witness.Answer {
        do throws(NoteFolderError) {
            let parts = request.path.split(separator: "/")
            switch (request.method, parts.count) {
            case ("POST", 1) where parts[0] == "add-checkpoint":
                let now = UInt64(max(Date().timeIntervalSince1970, 0))
                return try witness.add(String(decoding: request.body, as: UTF8.self), at: now)
            case ("GET", 2) where parts[1] == "checkpoint": return try witness.newest(String(parts[0]))
            default: return Witness.Answer(status: 404, body: "POST /add-checkpoint, GET /<name>/checkpoint\n")
            }
        } catch {
            say("\(error)")
            return Witness.Answer(status: 503, body: "what was cosigned cannot be kept\n")
        }
    }
}
