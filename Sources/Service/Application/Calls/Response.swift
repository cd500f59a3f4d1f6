package import EventLog

/// What a command answers, in no protocol yet.
package enum Answer: Sendable {
    /// Nothing: there is no such thing.
    case null
    /// A whole number.
    case integer(Int64)
    /// A text that is no document, such as an order's id.
    case text(String)
    /// A JSON document.
    case document([UInt8])
    /// A JSON document in two parts: most of it is kept and shared, and the end is this answer's own.
    case parts(ArraySlice<UInt8>, end: String)
    /// Several JSON documents.
    case documents([[UInt8]])

    /// Why it cannot be sent, if it has more bytes than that.
    package func excess(over limit: Int) -> Failure? {
        let count =
            switch self {
            case .null, .integer: 0
            case .text(let text): text.utf8.count
            case .document(let document): document.count
            case .parts(let start, let end): start.count + end.utf8.count
            case .documents(let documents): documents.reduce(0) { $0 + $1.count }
            }
        return count <= limit ? nil : .tooLarge(count, limit: limit)
    }

    /// A document, or null.
    package init(_ document: [UInt8]?) { self = document.map(Answer.document) ?? .null }
}

/// What a call of a command gives: an answer, or the promise of one.
package enum Response {
    /// The answer.
    case answer(Answer)
    /// An answer that is not known yet.
    case promise(Promise)

    /// No answer, for a reason.
    package static func failure(_ failure: Failure) -> Response {
        let promise = Promise(about: .order)
        promise.fail(failure)
        return .promise(promise)
    }

    /// The answer to something else that follows from this one.
    package func map(_ transform: @escaping (Answer) -> Answer) -> Response {
        switch self {
        case .answer(let answer): .answer(transform(answer))
        case .promise(let promise): .promise(promise.followed { $0.map(transform) })
        }
    }

    /// The same response, whose answer `body` sees first.
    package func observed(_ body: @escaping (Result<Answer, Failure>) -> Void) -> Response {
        switch self {
        case .answer(let answer):
            body(.success(answer))
            return self
        case .promise(let promise):
            return .promise(
                promise.followed {
                    body($0)
                    return $0
                })
        }
    }

    /// Calls `body` with the answer, now or once it is known. Called once for each response.
    package func whenKnown(_ body: @escaping (Result<Answer, Failure>) -> Void) {
        switch self {
        case .answer(let answer): body(.success(answer))
        case .promise(let promise): promise.whenKnown(body)
        }
    }
}

/// An answer that is not known yet. It is given once, with ``keep(_:)`` or ``fail(_:)``.
package final class Promise {
    /// The category of the stream that the call is about: later calls of the same client may have to wait for it.
    package let category: StreamName.Category
    /// Whether the call is not decided yet, so that nothing of the same client may overtake it.
    package let isHolding: Bool

    private enum State {
        case pending
        case awaited((Result<Answer, Failure>) -> Void)
        case known(Result<Answer, Failure>)
        case done
    }
    private var state = State.pending

    package init(about category: StreamName.Category, isHolding: Bool = false) {
        self.category = category
        self.isHolding = isHolding
    }

    /// Calls `body` with the answer, now or once it is known. Called once for each promise.
    package func whenKnown(_ body: @escaping (Result<Answer, Failure>) -> Void) {
        switch state {
        case .pending: state = .awaited(body)
        case .known(let result):
            state = .done
            body(result)
        case .awaited, .done: preconditionFailure("a promise awaited twice")
        }
    }

    /// The promise of what follows from this one's answer.
    fileprivate func followed(
        by next: @escaping (Result<Answer, Failure>) -> Result<Answer, Failure>
    ) -> Promise {
        let promise = Promise(about: category, isHolding: isHolding)
        whenKnown { promise.end(next($0)) }
        return promise
    }

    package func keep(_ answer: Answer) { end(.success(answer)) }

    package func fail(_ failure: Failure) { end(.failure(failure)) }

    package func end(_ result: Result<Answer, Failure>) {
        switch state {
        case .pending: state = .known(result)
        case .awaited(let body):
            state = .done
            body(result)
        case .known, .done: preconditionFailure("a promise kept twice")
        }
    }
}
