import Foundation

// What libFuzzer, whose main function this program has, calls. `TIFFIN_FUZZ_TARGET` names the target; the argument
// `--list` lists all.

private let target = ProcessInfo.processInfo.environment["TIFFIN_FUZZ_TARGET"].flatMap { name in
    FuzzTarget.all.first { $0.name == name }
}

/// Adds the length of the target's inputs to the arguments.
@_cdecl("LLVMFuzzerInitialize")
package func initializeFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    if CommandLine.arguments.contains("--list") {
        for target in FuzzTarget.all { print(target) }
        exit(0)
    }
    guard let target else {
        end("TIFFIN_FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }
    let old = UnsafeBufferPointer(start: arguments.pointee, count: Int(count.pointee))
    let new = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: old.count + 2)
    _ = new.initialize(from: old + [strdup("-max_len=\(target.maximumLength)"), nil])
    arguments.pointee = new.baseAddress!
    count.pointee += 1
    return 0
}

/// Checks one input.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        end("\(error)")
    }
    return 0
}

/// Ends as a program does that has trapped.
private func end(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    abort()
}
