internal import CLibCurl

/// The bytes of a document as they come, up to a limit.
final class Download {
    private let maximumLength: Int
    private(set) var bytes: [UInt8] = []
    /// Whether more came than may be held.
    private(set) var isTooLong = false

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// What libcurl calls with each piece. With another result than the piece's length it gives up.
    static let writer: curl_write_callback = { start, size, count, context in
        guard let start, let context else { return 0 }
        let piece = UnsafeRawBufferPointer(start: start, count: size * count)
        return Unmanaged<Download>.fromOpaque(context).takeUnretainedValue().take(piece) ? size * count : 0
    }

    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard piece.count <= maximumLength - bytes.count else {
            isTooLong = true
            return false
        }
        bytes += piece
        return true
    }
}
