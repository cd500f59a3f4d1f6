-- The first position of the batch that holds a position, or of the next batch. Passes over batches at positions that no
-- batch can have. A set, because PostgreSQL makes such a function a part of the statement, and plans and starts any
-- other each time.
CREATE OR REPLACE FUNCTION tiffin.batch_at(p_partition smallint, p_position bigint)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT first_position FROM (
            SELECT first_position, last_position FROM tiffin.batches
            WHERE partition = p_partition AND first_position <= p_position
            ORDER BY first_position DESC LIMIT 1) AS b
         WHERE b.last_position BETWEEN p_position AND b.first_position + 9999),
        (SELECT first_position FROM tiffin.batches
         WHERE partition = p_partition AND first_position > p_position AND first_position <= 4611686018427387904
            AND last_position BETWEEN first_position AND first_position + 9999
         ORDER BY first_position LIMIT 1))
$$;

-- The events of a partition at positions, as rows of tiffin.events. The partition is an integer, as people type it.
CREATE OR REPLACE FUNCTION tiffin.events_between(p_partition integer, p_first bigint, p_last bigint)
RETURNS SETOF tiffin.events LANGUAGE sql STABLE AS $$
    SELECT partition, position, stream, version, kind, schema_version, payload, metadata, recorded_at
    FROM tiffin.batch_events
    WHERE partition = p_partition AND first_position >= (SELECT b FROM tiffin.batch_at(p_partition::smallint, p_first) AS b)
        AND first_position <= p_last AND position BETWEEN p_first AND p_last
    ORDER BY position
$$;
