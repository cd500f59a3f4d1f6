-- What is left of what outlets have counted, and what is under way over several streams.

CREATE TABLE tiffin.supply_rows (
    partition  smallint NOT NULL,
    generation integer  NOT NULL,
    outlet     text     COLLATE "C" NOT NULL,
    version    bigint   NOT NULL,
    counts     text     NOT NULL,
    PRIMARY KEY (partition, generation, outlet)
);

CREATE TABLE tiffin.process_rows (
    partition  smallint NOT NULL,
    generation integer  NOT NULL,
    name       text     COLLATE "C" NOT NULL,
    processes  text     NOT NULL,
    PRIMARY KEY (partition, generation, name)
);
COMMENT ON COLUMN tiffin.process_rows.name IS 'Always open: there is one row.';

CREATE VIEW tiffin.supply AS
SELECT rows.partition, rows.outlet, counted.kind, counted.id, counted.count AS "left"
FROM tiffin.supply_rows rows, json_to_recordset(rows.counts::json) AS counted(kind text, id text, count bigint)
WHERE (rows.partition, rows.generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'supply' AND state = 'active');
COMMENT ON VIEW tiffin.supply IS
    'How much can still be ordered of what outlets have counted, as of the checkpoint of supply.';

CREATE VIEW tiffin.processes AS
SELECT rows.partition, open.kind, open."order" AS order_id, open.stream, open.version, open.outlet,
       to_timestamp(open.at / 1000.0) AS begun_at, open.claims
FROM tiffin.process_rows rows, json_to_recordset(rows.processes::json) AS open(
         kind text, "order" text, stream text, version bigint, outlet text, at bigint, claims json)
WHERE (rows.partition, rows.generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'processes' AND state = 'active');
COMMENT ON VIEW tiffin.processes IS
    'Checkouts and returns that have begun and not ended, as of the checkpoint of processes.';

GRANT SELECT, INSERT, UPDATE, DELETE ON tiffin.supply_rows, tiffin.process_rows TO tiffin_server;
GRANT SELECT ON tiffin.supply, tiffin.processes TO tiffin_server;
GRANT SELECT ON tiffin.supply_rows, tiffin.process_rows, tiffin.supply, tiffin.processes TO tiffin_auditor;
