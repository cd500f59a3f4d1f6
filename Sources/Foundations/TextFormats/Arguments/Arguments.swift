// A call as every front hands it to the application: a list of arguments, each a view of bytes.
//
// The line protocol cuts a request into arguments where it lies; another front builds them from whatever it reads.

/// The arguments of one call, the command's name first; never empty.
///
/// A view without memory of its own: valid until the buffer it points into changes. Copy out what must live longer.
public struct Arguments: RandomAccessCollection {
    /// Where an argument lies, in bytes from the start of the call.
    @usableFromInline package struct Slice {
        @usableFromInline package var offset: UInt32
        @usableFromInline package var count: UInt32

        @inlinable public init(offset: UInt32, count: UInt32) {
            self.offset = offset
            self.count = count
        }
    }

    @usableFromInline let base: UnsafeRawBufferPointer
    @usableFromInline let slices: UnsafeBufferPointer<Slice>

    /// The call that begins so many arguments further on; nil where nothing is left.
    public func call(behind count: Int) -> Arguments? {
        guard count >= 0, count < slices.count else { return nil }
        return Arguments(of: UnsafeBufferPointer(rebasing: slices[count...]), in: base)
    }

    @inlinable package init(of slices: UnsafeBufferPointer<Slice>, in base: UnsafeRawBufferPointer) {
        self.base = base
        self.slices = slices
    }

    /// Calls `body` with the arguments that these texts make; they are valid during the call only.
    ///
    /// - Parameter texts: the arguments, the command's name first: at least one, and less than 4 GiB together.
    public static func with<Result, Failure: Error>(
        _ texts: [[UInt8]], _ body: (Arguments) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(!texts.isEmpty, "a call has at least a name")
        let bytes = texts.flatMap(\.self)
        var slices: [Slice] = []
        var offset: UInt32 = 0
        for text in texts {
            slices.append(Slice(offset: offset, count: UInt32(text.count)))
            offset += UInt32(text.count)
        }
        return try slices.withUnsafeBufferPointer { slices throws(Failure) in
            try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
                try body(Arguments(of: slices, in: UnsafeRawBufferPointer(bytes)))
            }
        }
    }

    /// Zero, the command's name.
    @inlinable public var startIndex: Int { 0 }

    /// The number of arguments.
    @inlinable public var endIndex: Int { slices.count }

    /// The argument at `index`, which must be there.
    @inlinable public subscript(index: Int) -> Argument {
        precondition(index >= 0 && index < slices.count, "no such argument")
        let offset = Int(slices[index].offset)
        return Argument(base.part(offset..<(offset + Int(slices[index].count))))
    }
}
