-- The read models, for restarts and for SQL. Each is written in one transaction with its checkpoint.

CREATE TABLE tiffin.projection_checkpoints (
    partition  smallint NOT NULL,
    projection text     NOT NULL,
    version    integer  NOT NULL,
    position   bigint   NOT NULL,
    digest     bytea    NOT NULL,
    PRIMARY KEY (partition, projection)
);
COMMENT ON TABLE tiffin.projection_checkpoints IS
    'Up to which position of a partition a projection''s rows have been written, and the digest of those rows.';

CREATE TABLE tiffin.outlet_home (
    partition smallint NOT NULL,
    outlet    text     COLLATE "C" NOT NULL,
    revision  bigint   NOT NULL,
    document  text     NOT NULL,
    snapshot  text     NOT NULL,
    PRIMARY KEY (partition, outlet)
);
COMMENT ON COLUMN tiffin.outlet_home.document IS 'The outlet''s home, as OUTLET.HOME answers it.';
COMMENT ON COLUMN tiffin.outlet_home.snapshot IS
    'The shortest history that leads to the outlet and its menu, as events: what a restart begins with.';

CREATE TABLE tiffin.cart_counts (
    partition smallint NOT NULL,
    cart      text     COLLATE "C" NOT NULL,
    count     integer  NOT NULL,
    PRIMARY KEY (partition, cart)
);

CREATE TABLE tiffin.quarantine (
    partition  smallint NOT NULL,
    projection text     NOT NULL,
    stream     text     NOT NULL,
    position   bigint   NOT NULL,
    reason     text     NOT NULL,
    PRIMARY KEY (partition, projection, stream)
);
COMMENT ON TABLE tiffin.quarantine IS
    'Streams with an event that cannot be understood, or cannot have happened: shown to nobody until mended.';

GRANT SELECT, INSERT, UPDATE, DELETE
ON tiffin.projection_checkpoints, tiffin.outlet_home, tiffin.cart_counts, tiffin.quarantine
TO tiffin_server;
