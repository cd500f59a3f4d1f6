package import Domain
package import EventLog
package import EventLoop
internal import Postgres

/// Pictures of menus in the schema `tiffin` of a database.
@LoopActor
package final class PostgresPictures {
    /// The most pictures that an outlet stores: two sizes for each item of the longest menu, twice.
    private static let maximumCount: Int32 = 20_000

    private let connection: LazyConnection

    /// The pictures in a migrated database.
    ///
    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - hasRoom: whether the database's disk has room. Without it, no picture is stored.
    ///   - report: as in `PostgresEventLog.open`.
    package init(
        _ database: String, hasRoom: @escaping @LoopActor () -> Bool = { true },
        report: @escaping @LoopActor (String) -> Void
    ) {
        connection = LazyConnection(
            database, name: "tiffin pictures", deadlines: .reading, hasRoom: hasRoom, report: report)
    }

    /// How its connection is, for `INFO`.
    package var connectionLine: (name: String, value: String) { connection.line }

    /// Closes the connection.
    package func close() { connection.close() }

    /// Stores a picture under the digest of its bytes. Returns whether it is there: an outlet may have too many.
    package func put(
        _ bytes: [UInt8], _ digest: Digest, mediaType: String, of outlet: Identifier
    ) async throws(EventLogError) -> Bool {
        try await connection.execute(
            Statements.put,
            [
                .bytes(digest.bytes), .text(outlet.rawValue), .text(mediaType), .bytes(bytes),
                .int4(PostgresPictures.maximumCount),
            ], needsRoom: true)[0]["is_there"]
    }

    /// The picture with a digest of 64 hexadecimal digits; nil where there is none.
    package func picture(_ digest: String) async throws(EventLogError) -> (mediaType: String, bytes: [UInt8])? {
        let rows = try await connection.execute(Statements.read, [.text(digest)])
        return rows.first.map { ($0["media_type"], $0["bytes"]) }
    }
}

private enum Statements {
    static let put = Statement(
        "put_picture",
        """
        WITH added AS (
            INSERT INTO tiffin.pictures (digest, outlet, media_type, bytes)
            SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM tiffin.pictures WHERE outlet = $2) < $5
            ON CONFLICT DO NOTHING RETURNING digest)
        SELECT EXISTS (SELECT FROM added) OR EXISTS (SELECT FROM tiffin.pictures WHERE digest = $1) AS is_there
        """, [.bytea, .text, .text, .bytea, .int4])

    static let read = Statement(
        "read_picture", "SELECT media_type, bytes FROM tiffin.pictures WHERE digest = decode($1, 'hex')", [.text])
}
