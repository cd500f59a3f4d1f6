import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a filter asks for.
public enum Filter: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    case word(String)
    /// Any of several.
    case any([String])
    /// From one value to another; nil is an open end.
    case range(from: Double?, to: Double?)

    public init(stringLiteral word: String) { self = .word(word) }
    public init(integerLiteral number: Int) { self = .word("\(number)") }
    public init(booleanLiteral value: Bool) { self = .word(value ? "1" : "0") }
    public init(arrayLiteral words: String...) { self = .any(words) }

    var words: [String] {
        func end(_ value: Double?) -> String { value.map { Int(exactly: $0).map(String.init) ?? "\($0)" } ?? "" }
        return switch self {
        case .word(let word): [word]
        case .any(let words): words
        case .range(let from, let to): ["\(end(from)),\(end(to))"]
        }
    }
}

/// Keys of a query with their values; those that are nil are left out.
typealias Query = [(String, (any CustomStringConvertible)?)]

/// Calls to one site: who calls, and when a call is sent again.
public final class Connection: Sendable {
    /// A command that needs the database is answered within 5 seconds, whatever the database does.
    private static let longestAttempt = Duration.seconds(10)
    private static let firstPause = 0.05
    static let longestPause = 2.0

    private let url: String
    private let identity: any Identity
    private let deadline: Duration
    private let session: URLSession

    init(_ url: String, _ identity: any Identity, deadline: Duration) throws {
        guard let parts = URLComponents(string: url), let host = parts.host, ["http", "https"].contains(parts.scheme)
        else {
            throw TiffinError(.invalid, "\(url) is no address of a site")
        }
        let isSafe = parts.scheme == "https" || ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
        guard isSafe || !(identity is Visitor) else {
            throw TiffinError(
                .denied, "\(url): a session is a secret, which goes only over https or on the same machine")
        }
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.identity = identity
        self.deadline = deadline
        session = URLSession(configuration: Connection.configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // The identity keeps its cookie, which nobody else is to see.
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }

    /// The answer to a call, or the member of it that is called `takes`.
    ///
    /// It is sent again after what passes, until the deadline. A call that may be done twice needs a key for that if
    /// nobody knows whether it was done: with `hasKey` there is one.
    func call<Answer: Decodable>(
        _ method: String, _ path: String, takes: String? = nil, query: Query = [],
        filters: [String: Filter] = [:], body: (any Encodable)? = nil, picture: (type: String, bytes: Data)? = nil,
        hasKey: Bool = false, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Answer {
        var request = self.request(path, query, filters)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if hasKey { request.setValue(key ?? UUID().uuidString, forHTTPHeaderField: "Idempotency-Key") }
        if let picture {
            request.setValue(picture.type, forHTTPHeaderField: "Content-Type")
            request.httpBody = picture.bytes
        } else if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(body)
        }
        let canRepeat = hasKey || method == "GET" || method == "PUT"
        let ends = ContinuousClock.now + (deadline ?? self.deadline)
        var doubt: TiffinError?
        var attempt = 0
        while true {
            do {
                let patience = min(Connection.longestAttempt, ends - .now)
                request.timeoutInterval = max(0.001, patience / .seconds(1))
                return try Connection.decoded(try await answer(to: request), takes: takes)
            } catch let error as TiffinError {
                try Task.checkCancellation()
                if error.leavesDoubt { doubt = error }
                let wait = max(Connection.pause(attempt), error.retryAfter)
                guard error.isTemporary else { throw error }
                // The last attempt was not accepted; an earlier one may have been.
                guard canRepeat || !error.leavesDoubt, .now + wait < ends else { throw doubt ?? error }
                try await Task.sleep(for: wait)
                attempt += 1
            }
        }
    }

    private func answer(to request: URLRequest) async throws -> Data {
        var request = request
        if let field = identity.field { request.setValue(field.value, forHTTPHeaderField: field.name) }
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await session.data(for: request)
        } catch {
            throw TiffinError(.lost, "no answer came: \(error.localizedDescription)")
        }
        guard let response = response as? HTTPURLResponse else { throw TiffinError(.lost, "no answer came") }
        identity.take(response)
        guard (200..<300).contains(response.statusCode) else { throw Connection.problem(response, data) }
        return data
    }

    /// A request for an answer that goes on.
    func requestForEvents(_ path: String, topic: String) -> URLRequest {
        var request = self.request(path, [("t", topic)], [:])
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        if let field = identity.field { request.setValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }

    private func request(
        _ path: String, _ query: Query, _ filters: [String: Filter]
    ) -> URLRequest {
        let words =
            query.compactMap { name, value in value.map { (name, $0.description) } } + Connection.words(of: filters)
        guard let address = URL(string: url + path + (words.isEmpty ? "" : "?" + Connection.text(of: words))) else {
            preconditionFailure("\(url)\(path) is no address")
        }
        return URLRequest(url: address)
    }

    private static func words(of filters: [String: Filter]) -> [(String, String)] {
        filters.sorted { $0.key < $1.key }.flatMap { key, filter in filter.words.map { (key, $0) } }
    }

    private static func text(of words: [(String, String)]) -> String {
        words.map { "\(segment($0))=\(segment($1))" }.joined(separator: "&")
    }

    /// The topic of a question: a command, and filters as behind its route.
    static func question(_ command: String, _ filters: [String: Filter]) -> String {
        "\(command)?\(text(of: words(of: filters)))"
    }

    /// How long to wait before the next attempt: longer each time, and never as long as everybody else.
    static func pause(_ attempt: Int, longest: Double = longestPause) -> Duration {
        .seconds(min(longest, firstPause * Double(1 << min(attempt, 10))) * .random(in: 0.5...1))
    }

    private static func decoded<Answer: Decodable>(_ data: Data, takes: String?) throws -> Answer {
        let document = data.isEmpty ? Data("null".utf8) : data
        do {
            guard let takes else { return try JSONDecoder().decode(Answer.self, from: document) }
            guard let answer = try JSONDecoder().decode([String: Answer].self, from: document)[takes] else {
                throw TiffinError(.error, "the answer has no \(takes)", status: 200)
            }
            return answer
        } catch let error as DecodingError {
            throw TiffinError(.error, "the answer is not what was expected: \(error)", status: 200)
        }
    }

    private struct Problem: Decodable {
        var code: TiffinError.Code
        var detail: String
    }

    static func problem(_ response: HTTPURLResponse, _ data: Data) -> TiffinError {
        let status = response.statusCode
        guard let problem = try? JSONDecoder().decode(Problem.self, from: data) else {
            // Somebody in between answered, and nobody knows how far the call got.
            return TiffinError(
                [502, 504].contains(status) ? .lost : .error, "the answer was \(status)", status: status)
        }
        var error = TiffinError(problem.code, problem.detail, status: status)
        error.retryAfter = .seconds(response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) } ?? 0)
        return error
    }
}

/// A text as a part of an address.
func segment(_ text: String) -> String {
    var allowed = CharacterSet(charactersIn: "A"..."Z")
    allowed.insert(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
}

/// Members of a body; those that are nil are left out.
struct Members: Encodable, ExpressibleByDictionaryLiteral {
    private var members: [(String, (any Encodable)?)]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) { self.members = members }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        for (name, value) in members {
            if let value { try container.encode(value, forKey: MemberName(stringValue: name)) }
        }
    }
}
