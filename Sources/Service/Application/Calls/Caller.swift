/// The source of calls that are counted together, so that one source cannot take the share of all: a user, or an
/// address.
///
/// A number, so that it costs nothing to give it to every call. It means nothing outside this process.
package struct Caller: Hashable, Sendable {
    /// The server itself.
    package static let server = Caller(number: 0)

    /// The number.
    package let number: Int

    /// Whoever has this number at another server.
    package init(number: Int) { self.number = number }

    /// Everybody who is logged in as a user.
    package init(user name: String) { self.init("user", name) }

    /// Everybody at an address who is not logged in.
    package init(address: String) { self.init("address", address) }

    private init(_ kind: String, _ name: String) {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(name)
        number = hasher.finalize()
    }
}
