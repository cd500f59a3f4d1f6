package import EventLog
package import EventLoop
internal import Postgres

/// Where signed heads are published, for a program that signs. Servers only read them.
@LoopActor
package final class SignedHeads {
    private static let patience = Duration.seconds(10)
    private static let publish = Statement(
        "publish_signed_head",
        """
        INSERT INTO tiffin.signed_heads (partition, position, note) VALUES ($1, $2, $3)
        ON CONFLICT (partition) DO UPDATE SET position = excluded.position, note = excluded.note, signed_at = now()
        """, [.int2, .int8, .text])

    private let kept: KeptConnection

    /// Those in migrated databases: in the first one, of all partitions.
    package init(_ databases: LogDatabases) {
        kept = KeptConnection(
            databases.first, name: "tiffin sign", rights: .own,
            deadlines: KeptConnection.Deadlines(connecting: SignedHeads.patience, answer: SignedHeads.patience))
    }

    /// Publishes a head in place of the one before.
    package func publish(_ head: PublishedHead, of partition: Int) async throws {
        _ = try await kept.connected().execute(
            SignedHeads.publish, [.int2(Int16(clamping: partition)), .int8(head.position), .text(head.note)])
    }

    /// Closes the connection.
    package func close() { kept.close() }
}
