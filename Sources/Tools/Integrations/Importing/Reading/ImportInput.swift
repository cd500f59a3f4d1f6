internal import CommandLineOptions
internal import HTTP

/// Where an import reads from.
struct ImportInput: Equatable {
    enum Place: Equatable {
        case file(String)
        case standardInput
        case web(String)
    }

    let place: Place

    /// The place that an operand names: `-`, an address on the web, or a file.
    init(_ operand: String) {
        let start = operand.prefix(8).lowercased()
        place =
            if operand == "-" {
                .standardInput
            } else if start.hasPrefix("http://") || start.hasPrefix("https://") {
                .web(operand)
            } else {
                .file(operand)
            }
    }

    /// What messages call it. Of an address it has no user and no query, which may be secret.
    var label: String {
        switch place {
        case .file(let path): path
        case .standardInput: "standard input"
        case .web(let url): String((address ?? url).prefix { $0 != "?" && $0 != "#" })
        }
    }

    /// What is recorded of it: of a path only the name of the file, as the rest is about the machine.
    var source: String {
        switch place {
        case .file(let path): path.split(separator: "/").last.map(String.init) ?? path
        case .standardInput, .web: label
        }
    }

    /// All of it.
    func bytes(_ options: ImportOptions) throws(UnreadableFile) -> [UInt8] {
        guard let document = try document(unless: HTTPValidators(), options) else { throw unasked }
        return document.bytes
    }

    /// The web says that it has not changed, though the question did not ask for that.
    var unasked: UnreadableFile { UnreadableFile(path: label, reason: "is answered as unchanged, which nobody asked") }

    /// All of it; nil if it is on the web and what it was when it had these validators.
    func document(
        unless validators: HTTPValidators, _ options: ImportOptions
    ) throws(UnreadableFile) -> HTTPDocument? {
        var document: HTTPDocument?
        switch place {
        case .file, .standardInput:
            document = HTTPDocument(try fileBytes(options))
        case .web(let url):
            let request = HTTPGet(
                url, unless: validators, seconds: options.seconds, maximumLength: options.maximumLength)
            do throws(HTTPError) {
                document = try request.fetch()
            } catch {
                throw UnreadableFile(path: label, reason: error.description)
            }
        }
        document?.bytes.removeByteOrderMark()
        return document
    }

    private func fileBytes(_ options: ImportOptions) throws(UnreadableFile) -> [UInt8] {
        do throws(NamedFile.Failure) {
            if case .file(let path) = place {
                return try NamedFile.contents(of: path, atMost: options.maximumLength)
            }
            return try NamedFile.standardInput(named: label, atMost: options.maximumLength)
        } catch {
            throw UnreadableFile(path: error.path, reason: error.reason)
        }
    }

    /// The address as anybody would ask for it: without a user.
    var address: String? {
        guard case .web(let url) = place else { return nil }
        let scheme = url.prefix { $0 != "/" }.count + 2
        let rest = url.dropFirst(scheme)
        let authority = rest.prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        return "\(url.prefix(scheme))\(host)\(rest.dropFirst(authority.count))"
    }
}

extension [UInt8] {
    /// Some programs begin a text with it.
    fileprivate mutating func removeByteOrderMark() {
        if starts(with: [0xEF, 0xBB, 0xBF]) { removeFirst(3) }
    }
}
