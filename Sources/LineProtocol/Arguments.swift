/// The arguments of one request, the command's name first; never empty.
///
/// A view without memory of its own: valid until the input buffer changes or goes away, or the parser is
/// asked for the next request, whichever comes first. What is to live longer is copied out.
public struct Arguments: RandomAccessCollection {
    /// Where an argument lies, counted from the start of the request.
    struct Slice {
        var offset: UInt32
        var count: UInt32
    }

    private let base: UnsafeRawBufferPointer
    private let slices: UnsafeBufferPointer<Slice>

    init(of slices: UnsafeBufferPointer<Slice>, in base: UnsafeRawBufferPointer) {
        self.base = base
        self.slices = slices
    }

    /// Zero, the command's name.
    public var startIndex: Int { 0 }

    /// The number of arguments.
    public var endIndex: Int { slices.count }

    /// The argument at `index`, which must be there.
    public subscript(index: Int) -> Argument {
        precondition(index >= 0 && index < slices.count, "no such argument")
        let offset = Int(slices[index].offset)
        return Argument(base.part(offset..<(offset + Int(slices[index].count))))
    }
}
