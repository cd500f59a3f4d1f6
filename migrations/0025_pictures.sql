-- Pictures of menus, under the digests of their bytes. They lie beside the log, and never change.

CREATE TABLE tiffin.pictures (
    digest     bytea       NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    outlet     text        COLLATE "C" NOT NULL,
    media_type text        NOT NULL,
    bytes      bytea       NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 4194304),
    stored_at  timestamptz NOT NULL DEFAULT now()
);
-- They are compressed already.
ALTER TABLE tiffin.pictures ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE tiffin.pictures ALTER COLUMN bytes SET STATISTICS 0;
CREATE INDEX pictures_of_outlet ON tiffin.pictures (outlet);
COMMENT ON TABLE tiffin.pictures IS 'Pictures of menus. The digest is the SHA-256 of the bytes.';
COMMENT ON COLUMN tiffin.pictures.outlet IS 'The outlet that stored it first.';

GRANT SELECT, INSERT ON tiffin.pictures TO tiffin_server;
