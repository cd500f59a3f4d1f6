/// Text that is not the value it should be; the reason continues a sentence that begins with the field.
struct Malformed: Error, Equatable {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
