package import Domain
package import TextFormats
package import Users

/// On whose behalf a call is, as another server is told it.
package struct CallOrigin: Sendable {
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

    /// On somebody's behalf at another server.
    package init(
        rights: Rights, confinement: Confinement?, caller: Caller, client: Int64, actor: Text?, isRecall: Bool,
        position: Int64
    ) {
        self.rights = rights
        self.confinement = confinement
        self.caller = caller
        self.client = client
        self.actor = actor
        self.isRecall = isRecall
        self.position = position
    }

    /// Makes a call of these words.
    package func withCall<Result>(
        of declaration: CommandDeclaration, _ words: Arguments,
        _ body: (borrowing Call) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(
            try Call(
                declaration, words, within: confinement, with: rights, of: caller, by: client, actor: actor,
                isRecall: isRecall))
    }
}

/// A call that outlives its bytes, for another server, or until it can be decided.
package struct ForwardedCall: Sendable {
    /// The command's name and its arguments.
    package var words: [[UInt8]]
    /// On whose behalf it is.
    package var origin: CallOrigin

    /// A call of these words.
    package init(_ words: [[UInt8]], from origin: CallOrigin) {
        self.words = words
        self.origin = origin
    }

    /// What outlives a call.
    ///
    /// - Parameter position: up to where this server knows the partition.
    package init(_ call: borrowing Call, at position: Int64) {
        self.init(
            call.arguments.map { Array($0.bytes) },
            from: CallOrigin(
                rights: call.rights, confinement: call.confinement, caller: call.caller, client: call.client,
                actor: call.actor, isRecall: call.isRecall, position: position))
    }

    /// Makes the call again.
    package func withCall<Result>(
        of declaration: CommandDeclaration, _ body: (borrowing Call) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Arguments.with(words) { words throws(Failure) in try origin.withCall(of: declaration, words, body) }
    }
}
