-- A relay has a place in each partition since it was made: one that is missing is lost. Those without any have not begun.

INSERT INTO tiffin.relay_cursors (relay, partition, position)
SELECT r.name, n, 0
FROM tiffin.relays AS r, tiffin.partition_count AS c, generate_series(0, c.count - 1) AS n
WHERE NOT EXISTS (SELECT FROM tiffin.relay_cursors AS p WHERE p.relay = r.name);

ALTER TABLE tiffin.relay_deliveries ADD COLUMN refused_at timestamptz;
UPDATE tiffin.relay_deliveries SET refused_at = tried_at WHERE refusals > 0;
COMMENT ON COLUMN tiffin.relay_deliveries.refused_at IS
    'When the receiver refused it first since it was held back or sent again; NULL if it did not.';
