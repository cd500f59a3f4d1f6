-- Who is told of events, and how far: `tiffin relay`. This lies outside the log, as it says nothing about what happened.

CREATE TABLE tiffin.relays (
    name       text        COLLATE "C" NOT NULL PRIMARY KEY,
    secret     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
-- Statistics would have secrets among their samples.
ALTER TABLE tiffin.relays ALTER COLUMN secret SET STATISTICS 0;
COMMENT ON TABLE tiffin.relays IS 'Relays, with what each signs with. Only the owner of the schema can read it.';

CREATE TABLE tiffin.relay_cursors (
    relay     text     COLLATE "C" NOT NULL REFERENCES tiffin.relays ON DELETE CASCADE,
    partition smallint NOT NULL,
    position  bigint   NOT NULL CHECK (position >= 0),
    event     text,
    PRIMARY KEY (relay, partition)
);
COMMENT ON TABLE tiffin.relay_cursors IS 'The last event of each partition that a relay is done with.';
COMMENT ON COLUMN tiffin.relay_cursors.event IS
    'Which event that is, to notice another log. NULL where the relay is to go on from the position whatever is there.';
