internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres

/// How customers are forgotten: by those who own the table of keys, as its other users may only make and read them.
struct ForgottenKeys {
    private let connection: PostgresConnection

    /// Connects as the database's own user, not in the server's role.
    ///
    /// - Parameter silence: how long the database may say nothing; nil for as long as it takes.
    @LoopActor
    init(in database: String, silence: Duration?) async throws(PostgresError) {
        connection = try await PostgresConnection.connect(
            database, applicationName: "tiffin forget",
            connectTimeout: (silence == nil ? KeptConnection.Deadlines.none : .background).connecting)
        connection.answerDeadline = silence
    }

    @LoopActor
    func close() { connection.close() }

    /// Destroys the keys of customers in every partition, makes sure that no new ones are ever created, and records it.
    ///
    /// - Parameter metadata: of what is recorded; nil to record nothing.
    /// - Throws: if nothing was done, or that is unknown.
    @LoopActor
    func destroy(of customers: Set<Identifier>, _ metadata: EventMetadata?) async throws -> Forgetting {
        try await connection.transaction { transaction in
            var outcomes: [Forgetting.Outcome] = []
            // In one order, so that two of these do not wait for each other.
            for customer in customers.sorted() {
                let name = [Parameter.text(customer.rawValue)]
                let before: Timestamp? = try await transaction.execute(Statements.before, name)[0]["forgotten_at"]
                // This comes first, because it waits for keys that are being created: so none of them is missed.
                _ = try await transaction.execute(Statements.refuse, name)
                let destroyed = try await transaction.execute(Statements.destroy, name)
                outcomes.append(
                    Forgetting.Outcome(
                        customer: customer, destroyedKeys: destroyed.affectedCount,
                        forgottenBefore: before))
            }
            guard let metadata else { return Forgetting(outcomes) }
            try await DeedRecorder.record(
                outcomes.filter { $0.forgottenBefore == nil }.map { ($0.customer, .customerForgotten) }, metadata,
                in: transaction)
            return Forgetting(outcomes)
        }
    }

    /// Rewrites the table: a plain `VACUUM` would leave the bytes of removed rows on their pages until others replace
    /// them. Returns why something remains, if so.
    @LoopActor
    func removeOldRows() async throws(PostgresError) -> String? {
        let transaction: String = try await connection.execute(Statements.transaction)[0]["id"]
        // While this waits for its lock, no other process can use the keys.
        try await connection.runScript("SET lock_timeout = '2s'")
        var isSeen = true
        for _ in 0..<Self.attempts where isSeen {
            isSeen = try await connection.execute(Statements.isSeen, [.text(transaction)])[0]["is_seen"]
        }
        try await connection.runScript("VACUUM (FULL) tiffin.customer_keys")
        // Rows that a transaction can still see are kept, whatever the kind of VACUUM.
        return isSeen ? "a transaction that began before has not ended" : nil
    }

    /// How often to check whether old transactions have ended, 50 ms apart.
    private static let attempts = 100
}

private enum Statements {
    // Each partition by itself: the table's key begins with it.
    static let before = Statement(
        "forgotten_before",
        """
        SELECT min(k.forgotten_at) AS forgotten_at FROM tiffin.log_head AS h
        JOIN tiffin.customer_keys AS k ON k.partition = h.partition AND k.customer = $1
        """, [.text])

    static let refuse = Statement(
        "refuse_keys",
        """
        INSERT INTO tiffin.customer_keys (partition, customer, created_at, forgotten_at)
        SELECT partition, $1, now(), now() FROM tiffin.log_head ON CONFLICT DO NOTHING
        """, [.text])

    static let destroy = Statement(
        "destroy_keys",
        """
        UPDATE tiffin.customer_keys AS k SET key = NULL, forgotten_at = now() FROM tiffin.log_head AS h
        WHERE k.partition = h.partition AND k.customer = $1 AND k.key IS NOT NULL
        """, [.text])

    static let transaction = Statement("transaction_id", "SELECT pg_current_xact_id()::xid::text AS id")

    static let isSeen = Statement(
        "is_seen",
        """
        SELECT CASE WHEN EXISTS (
            SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND age(backend_xmin) >= age($1::xid)
                AND coalesce(datname, current_database()) = current_database()
            UNION ALL SELECT FROM pg_replication_slots WHERE age(xmin) >= age($1::xid)
            UNION ALL SELECT FROM pg_prepared_xacts
                WHERE age(transaction) >= age($1::xid) AND database = current_database()
        ) THEN pg_sleep(0.05) IS NOT NULL ELSE false END AS is_seen
        """, [.text])
}
