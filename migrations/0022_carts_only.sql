-- Most of a log is carts, and a server that does not decide a partition needs none of them. So a batch says whether it
-- holds anything else: one that does not is passed over, and nobody reads its events.

-- Without a default, the rows that are there stay as they are.
ALTER TABLE tiffin.batches ADD COLUMN only_carts boolean;
COMMENT ON COLUMN tiffin.batches.only_carts IS
    'Whether its writer said that all of its events are of carts. NULL in batches that are older than this column.';

-- functions/append.sql makes it again, with a parameter more.
DROP FUNCTION tiffin.append(
    smallint, bigint, bytea, bigint, bytea, timestamptz, integer, text, text[], integer[], text[], integer[]);
