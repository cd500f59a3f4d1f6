-- A log in several databases: each of its partitions lives in one of them.

ALTER TABLE tiffin.log_head ADD COLUMN moved_to text;
COMMENT ON COLUMN tiffin.log_head.moved_to IS
    'The database that the partition lives in, or goes to: nothing is appended here. NULL where it lives here.';

ALTER TABLE tiffin.partition_count ADD COLUMN database text;
COMMENT ON COLUMN tiffin.partition_count.database IS
    'What this database is called among those of the log; NULL where it has the whole log.';

-- What was done beside the log, and is to be recorded in a partition that may live in another database. It is added by
-- the transaction that does it, and goes once it is recorded there.
CREATE TABLE tiffin.pending_deeds (
    id             text        NOT NULL PRIMARY KEY,
    stream         text        NOT NULL,
    kind           text        NOT NULL,
    schema_version integer     NOT NULL,
    payload        text        NOT NULL,
    metadata       text        NOT NULL,
    ordered_at     timestamptz NOT NULL
);
