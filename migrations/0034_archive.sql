-- The events of old batches can leave the database for the folder of a backup. Their rows stay, with positions, times and
-- digests: so points, chain and tree of the log are here as before, and whatever a file says can be checked.

ALTER TABLE tiffin.batches ALTER COLUMN events DROP NOT NULL;
COMMENT ON COLUMN tiffin.batches.events IS
    'A line an event: stream, version, kind, schema version, payload and metadata, with tabs between them. NULL where the archive has them.';

CREATE TABLE tiffin.archive (
    single boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    folder text    NOT NULL
);
COMMENT ON TABLE tiffin.archive IS 'Where the events of archived batches are.';
GRANT SELECT ON tiffin.archive TO tiffin_server, tiffin_auditor;
