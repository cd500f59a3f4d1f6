-- The Merkle tree over the batches of a partition, so that a proof is short however long the log is. It follows from the
-- batches: servers fill this in the background, of an old log as of a new one, and an append knows nothing of it.

CREATE TABLE tiffin.tree_nodes (
    partition     smallint NOT NULL,
    level         smallint NOT NULL,
    number        bigint   NOT NULL,
    last_position bigint   NOT NULL,
    digest        bytea    NOT NULL,
    tree_digest   bytea,
    PRIMARY KEY (partition, level, number)
);
CREATE INDEX tree_nodes_position ON tiffin.tree_nodes (partition, level, last_position);
COMMENT ON TABLE tiffin.tree_nodes IS
    'Roots over 256 batches (level 1), and over 256 of those below. Derived: if it is emptied, servers fill it again.';
COMMENT ON COLUMN tiffin.tree_nodes.number IS 'Its place among those of its partition and level, from 0.';
COMMENT ON COLUMN tiffin.tree_nodes.last_position IS 'Where its last batch ends.';
COMMENT ON COLUMN tiffin.tree_nodes.digest IS 'The root over its batches.';
COMMENT ON COLUMN tiffin.tree_nodes.tree_digest IS
    'The root over all batches up to its last one; NULL above level 1.';
GRANT SELECT ON tiffin.tree_nodes TO tiffin_server, tiffin_auditor;
