-- Every order with how far it has come, and what is in those that are open.

CREATE TABLE tiffin.order_rows (
    partition  smallint NOT NULL,
    generation integer  NOT NULL,
    order_id   text     COLLATE "C" NOT NULL,
    position   bigint   NOT NULL,
    outlet     text     COLLATE "C" NOT NULL,
    customer   text     COLLATE "C" NOT NULL,
    status     text     NOT NULL,
    version    integer  NOT NULL,
    count      integer  NOT NULL,
    currency   text     NOT NULL,
    total      bigint   NOT NULL,
    placed_at  bigint   NOT NULL,
    changed_at bigint   NOT NULL,
    snapshot   text     NOT NULL,
    PRIMARY KEY (partition, generation, order_id)
);
COMMENT ON COLUMN tiffin.order_rows.snapshot IS
    'What was ordered, as long as the order is open and somebody has to accept it or pay it first: what a restart begins with.';

CREATE VIEW tiffin.orders AS
SELECT partition, order_id, outlet, nullif(customer, '') AS customer, status, version, count, currency, total,
       to_timestamp(placed_at / 1000.0) AS placed_at, to_timestamp(changed_at / 1000.0) AS changed_at
FROM tiffin.order_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'orders' AND state = 'active');
COMMENT ON VIEW tiffin.orders IS 'Every order, as of the checkpoint of orders.';

GRANT SELECT, INSERT, UPDATE, DELETE ON tiffin.order_rows TO tiffin_server;
GRANT SELECT ON tiffin.orders TO tiffin_server;
