-- Who audits the log: a role that reads what an audit compares, and nothing secret. Every table is named here or in the
-- migration that makes it, so that a new one is closed until somebody opens it.

DO $$
BEGIN
    CREATE ROLE tiffin_auditor NOLOGIN;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role tiffin_auditor is missing, and this user may not create it'
            USING ERRCODE = 'insufficient_privilege', HINT = 'As a superuser: CREATE ROLE tiffin_auditor NOLOGIN';
END
$$;
GRANT USAGE ON SCHEMA tiffin TO tiffin_auditor;
GRANT SELECT ON
    tiffin.migrations, tiffin.partition_count, tiffin.log_head, tiffin.batches, tiffin.stream_index,
    tiffin.batch_events, tiffin.events, tiffin.commits,
    tiffin.projection_checkpoints, tiffin.quarantine, tiffin.outlet_home_rows, tiffin.cart_count_rows,
    tiffin.order_rows, tiffin.outlet_home, tiffin.cart_counts, tiffin.orders, tiffin.catalogue,
    tiffin.user_revision, tiffin.relay_cursors
TO tiffin_auditor;
-- Who was forgotten, who can log in and who is told, without keys, digests and secrets.
GRANT SELECT (partition, customer, created_at, forgotten_at) ON tiffin.customer_keys TO tiffin_auditor;
GRANT SELECT (name, role, grants, enabled, created_at, removed_at, revision) ON tiffin.users TO tiffin_auditor;
GRANT SELECT (name, created_at) ON tiffin.relays TO tiffin_auditor;
