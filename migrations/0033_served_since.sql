-- From here on each change says which servers can serve what it leaves: so that, during an upgrade, a server of the version
-- before can be started again.

-- A new database has these columns from the start.
ALTER TABLE tiffin.migrations ADD COLUMN IF NOT EXISTS served_since integer;
COMMENT ON COLUMN tiffin.migrations.served_since IS
    'The first migration whose servers can serve what this one leaves. NULL where only those of its own version can.';

ALTER TABLE tiffin.functions ADD COLUMN IF NOT EXISTS served_since integer;
COMMENT ON COLUMN tiffin.functions.served_since IS
    'The first version of the functions whose servers can call these. NULL where only those of its own version can.';
