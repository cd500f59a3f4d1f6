internal import Application
internal import HTTP
internal import TextFormats

/// Why there is no other answer, as RFC 9457 has it, with the code that the line protocol gives.
struct Problem {
    var status: HTTPStatus
    var code: String
    var detail: String

    init(_ status: HTTPStatus, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    init(_ failure: Failure) {
        self.init(Problem.status(of: failure.code.word), failure.code.word, failure.message)
    }

    init(_ refusal: HTTPRefusal) { self.init(refusal.status, "ERR", refusal.message) }

    /// The status of each code; docs/http.md lists them.
    static let statuses: [(codes: [String], status: HTTPStatus)] = [
        (["ERR", "INVALID"], .badRequest),
        (["NOAUTH", "WRONGPASS"], .unauthorized),
        (["DENIED", "NOPERM", "READONLY"], .forbidden),
        (["NOTFOUND"], .notFound),
        (
            [
                "CONFLICT", "SOLDOUT", "CLOSED", "WRONGOUTLET", "STATE", "LIMIT", "TOTALCHANGED", "CHOICE", "REQUIRED",
                "NOSLOT", "PROMO",
            ], .conflict
        ),
        (["FORGOTTEN"], .gone),
        (["IDMISMATCH"], .unprocessable),
        (["CORRUPT"], .internalError),
        (["BUSY", "LOADING", "UNAVAILABLE", "UNKNOWN"], .unavailable),
    ]

    /// A code that is not listed is one of the domain, where something is not allowed as things are.
    private static func status(of code: String) -> HTTPStatus {
        statuses.first { $0.codes.contains(code) }?.status ?? .conflict
    }

    /// The codes with their statuses, of those that are listed.
    static func statuses(of codes: [String]) -> [(status: HTTPStatus, codes: [String])] {
        statuses.map { listed in (listed.status, codes.filter(listed.codes.contains)) }.filter { !$0.codes.isEmpty }
    }

    /// The schema of ``answer``.
    static let schema = JSONSchema.object([
        .member("type", .words(["about:blank"])), .member("title", .string, "what the status is called"),
        .member("status", .integer, "that of HTTP"),
        .member(
            "code", .words(statuses.flatMap(\.codes).sorted()), "for programs; docs/protocol.md says what each means"),
        .member("detail", .string, "for people"),
    ]).named("Problem")

    var answer: HTTPAnswer {
        var writer = JSONWriter(reservingCapacity: 160 + detail.utf8.count)
        writer.beginObject()
        writer.field("type", "about:blank")
        writer.field("title", status.reason)
        writer.field("status", status.rawValue)
        writer.field("code", code)
        writer.field("detail", detail)
        writer.endObject()
        var fields: [(name: StaticString, value: String)] = [("Content-Type", "application/problem+json")]
        fields += Fields.ofData
        fields.append(("Cache-Control", "no-store"))
        if status == .unavailable { fields.append(("Retry-After", "1")) }
        if status == .unauthorized { fields.append(("WWW-Authenticate", "Bearer realm=\"tiffin\"")) }
        return HTTPAnswer(status, fields: fields, body: writer.bytes[...])
    }
}

/// Fields that many answers have.
enum Fields {
    /// What keeps other origins from using an answer, and browsers from taking it for something else.
    static let ofData: [(name: StaticString, value: String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    /// What a page may do: run our own modules, show images, and talk to this server.
    static let ofPages: [(name: StaticString, value: String)] =
        ofData + [
            ("Content-Security-Policy", policy), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Referrer-Policy", "same-origin"),
        ]

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
        + "manifest-src 'self'; img-src 'self' data: https:; base-uri 'none'; frame-ancestors 'none'; "
        + "form-action 'self'; require-trusted-types-for 'script'; trusted-types tiffin"
}
