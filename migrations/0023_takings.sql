-- What outlets sold, took back, gave back and were paid, by quarters of an hour, and how each order was had.

ALTER TABLE tiffin.order_rows ADD COLUMN service text NOT NULL DEFAULT '';

CREATE OR REPLACE VIEW tiffin.orders AS
SELECT partition, order_id, outlet, nullif(customer, '') AS customer, status, version, count, currency, total,
       to_timestamp(placed_at / 1000.0) AS placed_at, to_timestamp(changed_at / 1000.0) AS changed_at,
       paid, doubt <> 0 AS doubt, tax, refunded, refunded_tax, nullif(service, '') AS service
FROM tiffin.order_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'orders' AND state = 'active');

CREATE TABLE tiffin.takings_rows (
    partition  smallint NOT NULL,
    generation integer  NOT NULL,
    period     text     COLLATE "C" NOT NULL,
    outlet     text     COLLATE "C" NOT NULL,
    starts_at  bigint   NOT NULL,
    sums       text     NOT NULL,
    PRIMARY KEY (partition, generation, period)
);
COMMENT ON COLUMN tiffin.takings_rows.period IS
    'The number of the quarter of an hour since 1970, and that of the outlet in the partition.';

CREATE VIEW tiffin.takings AS
SELECT rows.partition, rows.outlet, to_timestamp(rows.starts_at / 1000.0) AS starts_at,
       sum."of", sum.kind, sum.service, sum.tax, sum.rate, sum.count, coalesce(sum.base, 0) AS base, sum.amount
FROM tiffin.takings_rows rows,
     json_to_recordset(rows.sums::json) AS sum(
         "of" text, kind text, service text, tax text, rate integer, count bigint, base bigint, amount bigint)
WHERE (rows.partition, rows.generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'takings' AND state = 'active');
COMMENT ON VIEW tiffin.takings IS
    'What outlets sold, took back, gave back and were paid, by quarters of an hour, as of the checkpoint of takings.';

GRANT SELECT, INSERT, UPDATE, DELETE ON tiffin.takings_rows TO tiffin_server;
GRANT SELECT ON tiffin.takings TO tiffin_server;
GRANT SELECT ON tiffin.takings_rows, tiffin.takings TO tiffin_auditor;
