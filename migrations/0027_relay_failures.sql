-- Why a relay does not get on. Like its place, this lies outside the log.

ALTER TABLE tiffin.relay_cursors ADD COLUMN failure text, ADD COLUMN failed_at timestamptz,
    ADD CHECK ((failure IS NULL) = (failed_at IS NULL));
COMMENT ON COLUMN tiffin.relay_cursors.failure IS 'What failed last; NULL once all is well again.';
