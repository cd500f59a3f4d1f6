-- Which servers there are, and which partitions each should decide. These lie outside the log, as they say nothing about
-- what happened: a lease is a hint, and the head of the log decides. Without them, every server decides everything.

-- Each server updates its row twice a second: there is room in the page for the next versions of the row.
CREATE TABLE tiffin.servers (
    id         text        COLLATE "C" NOT NULL PRIMARY KEY,
    address    text        NOT NULL,
    secret     bytea       NOT NULL CHECK (octet_length(secret) = 32),
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL
) WITH (fillfactor = 50);
-- Statistics would have secrets among their samples.
ALTER TABLE tiffin.servers ALTER COLUMN secret SET STATISTICS 0;
COMMENT ON TABLE tiffin.servers IS
    'Servers, with what others prove to them that they belong to the fleet with. One that is not seen for 3 seconds is not there.';

-- No foreign key: a server that was removed is one that is not there.
CREATE TABLE tiffin.leases (
    partition smallint NOT NULL PRIMARY KEY,
    server    text     COLLATE "C",
    term      bigint   NOT NULL DEFAULT 0 CHECK (term >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE tiffin.leases IS 'Which server should decide each partition. NULL for nobody in particular.';
COMMENT ON COLUMN tiffin.leases.term IS
    'How often the lease has changed hands. Whoever changes it names the term that it knows.';

-- A server reads both, and changes them through functions only.
GRANT SELECT ON tiffin.servers, tiffin.leases TO tiffin_server;
GRANT SELECT (id, address, started_at, seen_at) ON tiffin.servers TO tiffin_auditor;
GRANT SELECT ON tiffin.leases TO tiffin_auditor;
