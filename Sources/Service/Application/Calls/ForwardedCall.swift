package import Domain
internal import TextFormats
package import Users

/// A call as another server runs it: its words, and on whose behalf.
package struct ForwardedCall: Sendable {
    /// The command's name and its arguments.
    package var words: [[UInt8]]
    /// What the caller may do.
    package var rights: Rights
    /// What the caller is confined to; nil where it is not.
    package var confinement: Confinement?
    /// Whose call it is.
    package var caller: Caller
    /// The connection that it came by, at the server that it came to.
    package var client: Int64
    /// The proven identity of its caller; nil where no proof is required.
    package var actor: Text?
    /// Whether it only asks what became of the same call before.
    package var isRecall: Bool
    /// Up to where the server that it came to knows the partition: its client may have read or written that.
    package var position: Int64

    /// A call that another server has sent.
    package init(
        words: [[UInt8]], rights: Rights, confinement: Confinement?, caller: Caller, client: Int64, actor: Text?,
        isRecall: Bool, position: Int64 = 0
    ) {
        self.words = words
        self.rights = rights
        self.confinement = confinement
        self.caller = caller
        self.client = client
        self.actor = actor
        self.isRecall = isRecall
        self.position = position
    }

    /// What outlives a call.
    package init(_ call: borrowing Call, at position: Int64) {
        self.position = position
        words = call.arguments.map { Array($0.bytes) }
        rights = call.rights
        confinement = call.confinement
        caller = call.caller
        client = call.client
        actor = call.actor
        isRecall = call.isRecall
    }

    /// Makes the call again.
    package func withCall<Result>(
        of declaration: CommandDeclaration, _ body: (borrowing Call) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Arguments.with(words) { arguments throws(Failure) in
            try body(
                try Call(
                    declaration, arguments, within: confinement, with: rights, of: caller, by: client, actor: actor,
                    isRecall: isRecall))
        }
    }
}
