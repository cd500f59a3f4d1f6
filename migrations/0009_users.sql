-- Who can log in, and what they may do. Without a row here, a server serves everybody on its own machine.

CREATE TABLE tiffin.users (
    name       text        COLLATE "C" NOT NULL PRIMARY KEY,
    role       text        NOT NULL,
    password   text,
    tokens     bytea[]     NOT NULL DEFAULT '{}',
    grants     text[]      NOT NULL DEFAULT '{}',
    enabled    boolean     NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    removed_at timestamptz,
    revision   bigint      NOT NULL,
    CHECK (role IN ('customer', 'merchant', 'auditor', 'admin')),
    CHECK (role IN ('customer', 'merchant') OR grants = '{}'),
    CHECK (removed_at IS NULL OR password IS NULL AND tokens = '{}')
);
CREATE INDEX users_revision ON tiffin.users (revision);
-- Statistics would have hashes among their samples.
ALTER TABLE tiffin.users ALTER COLUMN password SET STATISTICS 0, ALTER COLUMN tokens SET STATISTICS 0;
COMMENT ON TABLE tiffin.users IS
    'Users. A removed one keeps its row, without what it logged in with, so that servers learn of it.';

-- How many changes there were. Each change takes the next number and holds the row until it commits: so whoever has
-- seen a number has seen every change up to it.
CREATE TABLE tiffin.user_revision (
    single   boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    revision bigint  NOT NULL
);
INSERT INTO tiffin.user_revision (revision) VALUES (0);

-- A server reads users. To change one takes the owner of the table.
GRANT SELECT ON tiffin.users, tiffin.user_revision TO tiffin_server;
