-- The newest signed head of each partition, with what witnesses have signed of it: what `tiffin sign` publishes, and servers
-- give to whoever asks. It proves itself by its signatures, so nothing is believed because it is here.

CREATE TABLE tiffin.signed_heads (
    partition smallint    NOT NULL PRIMARY KEY,
    position  bigint      NOT NULL,
    note      text        NOT NULL,
    signed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN tiffin.signed_heads.position IS 'Where the last of its batches ends.';
COMMENT ON COLUMN tiffin.signed_heads.note IS 'The note, as docs/audit.md describes it.';
GRANT SELECT ON tiffin.signed_heads TO tiffin_server, tiffin_auditor;
