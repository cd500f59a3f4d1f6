-- Gives a log the layout that it had before migration 7: a row an event, and a row a batch without its events.
BEGIN;
ALTER TABLE tiffin.batches RENAME TO kept_batches;
CREATE TABLE tiffin.commit_rows AS TABLE tiffin.commits;
CREATE TABLE tiffin.event_rows AS TABLE tiffin.events;
DROP VIEW tiffin.batch_events, tiffin.events, tiffin.commits CASCADE;
DROP FUNCTION tiffin.append, tiffin.outcome, tiffin.index_streams, tiffin.batch_at, tiffin.batches_of,
    tiffin.indexed_up_to, tiffin.canonical_bytes(text, timestamptz), tiffin.has_point, tiffin.chain_at,
    tiffin.mend_index, tiffin.grow_tree, tiffin.tree_root;
ALTER TABLE tiffin.projection_checkpoints DROP COLUMN chain_digest;
ALTER TABLE tiffin.cart_count_rows DROP COLUMN version;
UPDATE tiffin.projection_checkpoints SET version = 2;
DROP VIEW tiffin.orders, tiffin.takings, tiffin.supply, tiffin.processes;
DROP TABLE tiffin.functions, tiffin.kept_batches, tiffin.stream_index, tiffin.users, tiffin.user_revision, tiffin.partition_count,
    tiffin.relay_deliveries, tiffin.relay_cursors, tiffin.relays, tiffin.order_rows, tiffin.takings_rows, tiffin.supply_rows,
    tiffin.process_rows, tiffin.servers, tiffin.leases, tiffin.pending_deeds, tiffin.pictures,
    tiffin.tree_nodes, tiffin.signed_heads, tiffin.archive;
ALTER TABLE tiffin.log_head DROP COLUMN moved_to;
DELETE FROM tiffin.projection_checkpoints WHERE projection IN ('orders', 'takings', 'supply', 'processes');
ALTER TABLE tiffin.event_rows RENAME TO events;
ALTER TABLE tiffin.commit_rows RENAME TO commits;
ALTER TABLE tiffin.events ADD PRIMARY KEY (partition, position), ADD UNIQUE (partition, stream, version);
ALTER TABLE tiffin.commits ADD PRIMARY KEY (partition, first_position);
GRANT SELECT ON tiffin.events, tiffin.commits TO tiffin_server;
CREATE FUNCTION tiffin.append(
    smallint, bigint, bytea, timestamptz, text[], bigint[], text[], integer[], text[], text[], integer[], bigint
) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION tiffin.outcome(
    p_partition smallint, p_seen bigint, p_content_digest bytea,
    OUT first_position bigint, OUT last_position bigint, OUT epoch bigint
) LANGUAGE plpgsql AS 'BEGIN END';
DELETE FROM tiffin.migrations WHERE number >= 7;
COMMIT;
