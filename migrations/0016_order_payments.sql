-- What was paid of every order, and whether its payments are in doubt.

ALTER TABLE tiffin.order_rows
    ADD COLUMN paid bigint NOT NULL DEFAULT 0,
    ADD COLUMN doubt integer NOT NULL DEFAULT 0;

CREATE OR REPLACE VIEW tiffin.orders AS
SELECT partition, order_id, outlet, nullif(customer, '') AS customer, status, version, count, currency, total,
       to_timestamp(placed_at / 1000.0) AS placed_at, to_timestamp(changed_at / 1000.0) AS changed_at,
       paid, doubt <> 0 AS doubt
FROM tiffin.order_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'orders' AND state = 'active');
