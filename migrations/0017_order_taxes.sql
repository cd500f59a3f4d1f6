-- What accountants ask of orders: how much of each is tax, and what was given back.

ALTER TABLE tiffin.order_rows
    ADD COLUMN tax bigint NOT NULL DEFAULT 0,
    ADD COLUMN refunded bigint NOT NULL DEFAULT 0,
    ADD COLUMN refunded_tax bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE VIEW tiffin.orders AS
SELECT partition, order_id, outlet, nullif(customer, '') AS customer, status, version, count, currency, total,
       to_timestamp(placed_at / 1000.0) AS placed_at, to_timestamp(changed_at / 1000.0) AS changed_at,
       paid, doubt <> 0 AS doubt, tax, refunded, refunded_tax
FROM tiffin.order_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'orders' AND state = 'active');
