internal import TextFormats

/// A picture of a menu, known by its content whatever it is called.
package struct Picture: Sendable {
    /// The most bytes of one: 4 MiB.
    package static let maximumBytes = 4 << 20

    /// The bytes.
    package let bytes: [UInt8]
    /// `image/jpeg`, `image/png` or `image/webp`.
    package let mediaType: String

    /// The picture that these bytes are; nil for anything but JPEG, PNG and WebP.
    init?(_ bytes: [UInt8]) {
        guard let mediaType = Picture.mediaType(of: bytes) else { return nil }
        self.bytes = bytes
        self.mediaType = mediaType
    }

    private static func mediaType(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        return isWebP ? "image/webp" : nil
    }
}

extension ArgumentType<Picture> {
    /// A picture.
    static let picture = ArgumentType(kind: .string, accepting: "the bytes of a JPEG, PNG or WebP, at most 4 MiB") {
        argument, field throws(Failure) in
        guard argument.count <= Picture.maximumBytes else {
            throw Failure(.limit, "a picture has at most 4 MiB, and this one \(argument.count) bytes")
        }
        guard let picture = Picture(Array(argument.bytes)) else {
            throw .invalid(field, "must be a JPEG, PNG or WebP by its content")
        }
        return picture
    }
}
