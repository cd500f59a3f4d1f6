import Foundation
import SeededRandom
import Testing
import TextFormats

@Suite struct LineOutputTests {
    /// A pipe that takes nothing more until it is read.
    private static func fullPipe() throws -> (pipe: Pipe, size: Int) {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        // A program that another test starts is not to hold it open.
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            try #require(fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0)
        }
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        try #require(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
        var size = 0
        let page = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
        while case let count = write(descriptor, page, page.count), count > 0 { size += count }
        try #require(fcntl(descriptor, F_SETFL, flags) == 0)
        return (pipe, size)
    }

    /// What one read of a pipe brings.
    private static func read(_ pipe: Pipe, atMost count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let count = Foundation.read(pipe.fileHandleForReading.fileDescriptor, &bytes, count)
        try #require(count > 0)
        return Array(bytes[..<count])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Nobody waits for a reader, and what is missing is told in its place`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (pipe, size) = try Self.fullPipe()
        let output = LineOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        var added = 0
        while output.droppedLines < 10 {
            let line = "\(added) \(String(repeating: "é", count: random.below(4_000)))\n"
            output.add(line) { "missing \($0)\n" }
            added += 1
        }
        let dropped = Int(output.droppedLines)
        // The pipe's own bytes come first.
        var rest = size
        while rest > 0 { rest -= try Self.read(pipe, atMost: rest).count }
        var bytes: [UInt8] = []
        let last = "missing \(dropped)\n"
        while !bytes.suffix(last.utf8.count).elementsEqual(last.utf8) { bytes += try Self.read(pipe, atMost: 65_536) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(bytes.count <= 2 * LineOutput.capacity + last.utf8.count)
        #expect(lines.count == added - dropped + 1)
        for (number, line) in lines.dropLast().enumerated() { #expect(line.hasPrefix("\(number) ")) }
        // It goes on, and the end waits for the last line.
        output.add("over\n") { _ in "" }
        output.flush()
        #expect(try Self.read(pipe, atMost: 100) == Array("over\n".utf8))
        #expect(Int(output.droppedLines) == dropped)
    }

    @Test func `Lines for a reader who has gone are counted, and the end does not wait`() throws {
        let (pipe, _) = try Self.fullPipe()
        let output = LineOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        output.add("nobody reads this\n") { _ in "" }
        try pipe.fileHandleForReading.close()
        output.flush()
        #expect(output.droppedLines == 1)
    }
}
