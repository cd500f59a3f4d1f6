internal import TextFormats

// Inline requests: a line of words, as typed into netcat. Words are split as redis-cli splits them:
// "…" with \n \r \t \b \a \xHH, and \c for any other c; '…' with \' alone. A closing quote ends the word.

extension RequestParser {
    /// Puts the words of the line that `bytes` start with into the table. Returns the line's length; nil if it has no
    /// end yet.
    mutating func parseInline(
        _ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits, _ isAuthenticated: Bool
    ) throws(ProtocolError) -> Int? {
        let longest = min(limits.lineLength, limits.requestLength)
        guard let lineFeed = find(.lineFeed, in: bytes) else {
            // The last byte may be the return before the end.
            guard bytes.count <= longest + 1 else { throw .tooBigInlineRequest }
            return nil
        }
        let hasReturn = lineFeed > 0 && bytes[lineFeed - 1] == .carriageReturn
        let line = bytes.part(0..<(hasReturn ? lineFeed - 1 : lineFeed))
        guard line.count <= longest else { throw .tooBigInlineRequest }

        var words = InlineWords(line: line)
        if line.contains(where: { $0 == .doubleQuote || $0 == .singleQuote }) {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 1)
            unquoted = memory
            while let word = try words.nextUnquoted(into: memory) {
                try addWord(word, limits, isAuthenticated)
            }
        } else {
            while let word = words.nextPlain() {
                try addWord(word, limits, isAuthenticated)
            }
        }
        return lineFeed + 1
    }

    private mutating func addWord(
        _ word: Range<Int>, _ limits: RequestLimits, _ isAuthenticated: Bool
    ) throws(ProtocolError) {
        guard argumentCount < limits.argumentCount, word.count <= limits.bulkLength else {
            throw .tooBigInlineRequest
        }
        if !isAuthenticated {
            guard argumentCount < limits.unauthenticatedArgumentCount else {
                throw .unauthenticatedMultibulkLength
            }
            guard word.count <= limits.unauthenticatedBulkLength else { throw .unauthenticatedBulkLength }
        }
        add(word)
    }
}

/// The words of an inline request, one after the other.
private struct InlineWords {
    let line: UnsafeRawBufferPointer
    var index = 0
    /// How much of the memory for unquoted words is written.
    var written = 0

    init(line: UnsafeRawBufferPointer) {
        self.line = line
    }

    private mutating func skipBlanks() {
        while index < line.count, line[index].isASCIISpace { index += 1 }
    }

    /// Where in the line the next word lies; for lines without quotes.
    mutating func nextPlain() -> Range<Int>? {
        skipBlanks()
        guard index < line.count else { return nil }
        let start = index
        while index < line.count, !line[index].isASCIISpace { index += 1 }
        return start..<index
    }

    /// Where in `memory` the next word was written. The output is never longer than the input, so memory
    /// as large as the line is enough.
    mutating func nextUnquoted(
        into memory: UnsafeMutableRawBufferPointer
    ) throws(ProtocolError) -> Range<Int>? {
        skipBlanks()
        guard index < line.count else { return nil }
        let start = written
        word: while index < line.count {
            let byte = line[index]
            switch byte {
            case .doubleQuote, .singleQuote:
                index += 1
                try unquote(until: byte, into: memory)
                break word
            case _ where byte.isASCIISpace:
                break word
            default:
                write(byte, to: memory, reading: 1)
            }
        }
        return start..<written
    }

    /// Writes what is between the quotes; the opening one has been read.
    private mutating func unquote(
        until quote: UInt8, into memory: UnsafeMutableRawBufferPointer
    ) throws(ProtocolError) {
        while index < line.count {
            let byte = line[index]
            if byte == quote {
                index += 1
                guard index == line.count || line[index].isASCIISpace else { throw .unbalancedQuotes }
                return
            }
            if byte == .backslash, let (escaped, length) = escape(in: quote) {
                write(escaped, to: memory, reading: length)
            } else {
                write(byte, to: memory, reading: 1)
            }
        }
        throw .unbalancedQuotes
    }

    /// What the backslash at `index` and the bytes after it stand for, and how many bytes they take; nil if the
    /// backslash stands for itself.
    private func escape(in quote: UInt8) -> (byte: UInt8, length: Int)? {
        guard index + 1 < line.count else { return nil }
        let next = line[index + 1]
        guard quote == .doubleQuote else { return next == quote ? (next, 2) : nil }
        switch next {
        case UInt8(ascii: "n"): return (.lineFeed, 2)
        case UInt8(ascii: "r"): return (.carriageReturn, 2)
        case UInt8(ascii: "t"): return (9, 2)
        case UInt8(ascii: "b"): return (8, 2)
        case UInt8(ascii: "a"): return (7, 2)
        case UInt8(ascii: "x"):
            guard index + 3 < line.count, let high = line[index + 2].hexadecimalDigit,
                let low = line[index + 3].hexadecimalDigit
            else { return (next, 2) }
            return (high << 4 | low, 4)
        default: return (next, 2)
        }
    }

    private mutating func write(
        _ byte: UInt8, to memory: UnsafeMutableRawBufferPointer, reading length: Int
    ) {
        memory[written] = byte
        written += 1
        index += length
    }
}
