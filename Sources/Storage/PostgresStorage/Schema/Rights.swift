internal import EventLoop
internal import Postgres

/// What each role may, as the migrations leave it. A copy of the log in another cluster lacks it: roles belong to a
/// cluster, and `pg_restore` refuses what it grants to a role that is not there.
enum Rights {
    private static let missing = Statement("missing_rights", query)

    private static let query = """
        WITH given (role, kind, names, privileges, columns) AS (VALUES
            ('tiffin_server', 'SCHEMA', ARRAY['tiffin'], ARRAY['USAGE'], ARRAY[NULL]),
            ('tiffin_server', 'TABLE', ARRAY[
                'archive', 'batch_events', 'batches', 'cart_counts', 'catalogue', 'commits', 'customer_keys', 'events',
                'leases', 'log_head', 'orders', 'outlet_home', 'partition_count', 'processes', 'servers',
                'signed_heads', 'stream_index', 'supply', 'takings', 'tree_nodes', 'user_revision', 'users'
            ], ARRAY['SELECT'], ARRAY[NULL]),
            ('tiffin_server', 'TABLE', ARRAY[
                'cart_count_rows', 'order_rows', 'outlet_home_rows', 'process_rows', 'projection_checkpoints',
                'quarantine', 'supply_rows', 'takings_rows'
            ], ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'], ARRAY[NULL]),
            ('tiffin_server', 'TABLE', ARRAY['pictures'], ARRAY['SELECT', 'INSERT'], ARRAY[NULL]),
            ('tiffin_server', 'FUNCTION', ARRAY[
                'append', 'change_leases', 'customer_key', 'grow_tree', 'index_archived', 'index_streams', 'leave_fleet',
                'mend_index', 'outcome', 'renew_server'
            ], ARRAY['EXECUTE'], ARRAY[NULL]),
            ('tiffin_auditor', 'SCHEMA', ARRAY['tiffin'], ARRAY['USAGE'], ARRAY[NULL]),
            ('tiffin_auditor', 'TABLE', ARRAY[
                'archive', 'batch_events', 'batches', 'cart_count_rows', 'cart_counts', 'catalogue', 'commits', 'events',
                'functions', 'leases', 'log_head', 'migrations', 'order_rows', 'orders', 'outlet_home',
                'outlet_home_rows', 'partition_count', 'process_rows', 'processes', 'projection_checkpoints',
                'quarantine', 'relay_cursors', 'relay_deliveries', 'signed_heads', 'stream_index', 'supply', 'supply_rows',
                'takings', 'takings_rows', 'tree_nodes', 'user_revision'
            ], ARRAY['SELECT'], ARRAY[NULL]),
            ('tiffin_auditor', 'TABLE', ARRAY['customer_keys'], ARRAY['SELECT'],
                ARRAY['partition', 'customer', 'created_at', 'forgotten_at']),
            ('tiffin_auditor', 'TABLE', ARRAY['users'], ARRAY['SELECT'],
                ARRAY['name', 'role', 'grants', 'enabled', 'created_at', 'removed_at', 'revision']),
            ('tiffin_auditor', 'TABLE', ARRAY['relays'], ARRAY['SELECT'], ARRAY['name', 'created_at']),
            ('tiffin_auditor', 'TABLE', ARRAY['servers'], ARRAY['SELECT'],
                ARRAY['id', 'address', 'started_at', 'seen_at'])
        ), objects (role, kind, object, privilege, part, acl) AS (
            SELECT role, kind, quote_ident(name), privilege, '', coalesce(nspacl, acldefault('n', nspowner))
            FROM given CROSS JOIN unnest(names) AS name CROSS JOIN unnest(privileges) AS privilege
            JOIN pg_namespace ON nspname = name WHERE kind = 'SCHEMA'
            UNION ALL SELECT role, kind, f.oid::regprocedure::text, privilege, '',
                coalesce(proacl, acldefault('f', proowner))
            FROM given CROSS JOIN unnest(names) AS name CROSS JOIN unnest(privileges) AS privilege
            JOIN pg_proc AS f ON pronamespace = 'tiffin'::regnamespace AND proname = name WHERE kind = 'FUNCTION'
            UNION ALL SELECT role, kind, t.oid::regclass::text, privilege,
                CASE WHEN part IS NULL THEN '' ELSE format(' (%I)', part) END,
                CASE WHEN part IS NULL THEN coalesce(relacl, acldefault('r', relowner)) ELSE attacl END
            FROM given CROSS JOIN unnest(names) AS name CROSS JOIN unnest(privileges) AS privilege
            CROSS JOIN unnest(columns) AS part
            JOIN pg_class AS t ON relnamespace = 'tiffin'::regnamespace AND relname = name
            LEFT JOIN pg_attribute ON attrelid = t.oid AND attname = part WHERE kind = 'TABLE'
        )
        SELECT 1 AS step, format('CREATE ROLE %I NOLOGIN', role) AS statement FROM given WHERE to_regrole(quote_ident(role)) IS NULL
        UNION SELECT 2, format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object) FROM objects
            WHERE kind = 'FUNCTION' AND EXISTS (SELECT FROM aclexplode(acl) AS a WHERE a.grantee = 0)
        UNION SELECT 3, format('GRANT %s ON %s %s TO %I', string_agg(privilege || part, ', '), kind, object, role)
            FROM objects WHERE NOT EXISTS (
                SELECT FROM aclexplode(acl) AS a
                WHERE a.grantee = to_regrole(quote_ident(role)) AND a.privilege_type = privilege)
            GROUP BY kind, object, role
        ORDER BY 1, 2
        """

    /// Makes roles and grants that are missing, and takes away rights that everybody has and should not have. Returns
    /// how many statements that took. Where nothing is missing, no right is needed.
    @LoopActor
    static func mend(_ transaction: Transaction) async throws(PostgresError) -> Int {
        let rows = try await transaction.execute(missing)
        for row in rows { try await transaction.runScript(row["statement"]) }
        return rows.count
    }
}
