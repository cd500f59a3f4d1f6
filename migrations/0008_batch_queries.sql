-- Finds batches by position with less work, and lets indexing wait for its turn.

-- The first position of the batch that holds a position, or of the next batch. Passes over batches at positions that no
-- batch can have. A set, like that of tiffin.indexed_up_to, because PostgreSQL makes such a function a part of the
-- statement, and plans and starts any other each time.
DROP FUNCTION tiffin.batch_at(smallint, bigint);
CREATE FUNCTION tiffin.batch_at(p_partition smallint, p_position bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
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
DROP FUNCTION tiffin.events_between(smallint, bigint, bigint);
CREATE FUNCTION tiffin.events_between(p_partition integer, p_first bigint, p_last bigint)
RETURNS SETOF tiffin.events LANGUAGE sql STABLE AS $$
    SELECT partition, position, stream, version, kind, schema_version, payload, metadata, recorded_at
    FROM tiffin.batch_events
    WHERE partition = p_partition AND first_position >= (SELECT b FROM tiffin.batch_at(p_partition::smallint, p_first) AS b)
        AND first_position <= p_last AND position BETWEEN p_first AND p_last
    ORDER BY position
$$;

-- Adds batches to the index of streams, up to a number of batches, and returns whether others are left. One at a time:
-- whoever comes second goes on where the first one stopped. Batches behind the head are left out: others may still come
-- before them.
CREATE OR REPLACE FUNCTION tiffin.index_streams(p_partition smallint, p_batches integer, OUT is_behind boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reached bigint;
    last bigint;
BEGIN
    -- The first of the two keys says whose lock it is: ours.
    PERFORM pg_advisory_xact_lock(1953064550, p_partition);
    reached := (SELECT i FROM tiffin.indexed_up_to(p_partition) AS i);
    IF reached IS NULL THEN
        DELETE FROM tiffin.stream_index WHERE partition = p_partition;
        reached := 0;
    END IF;
    SELECT max(first_position), count(*) = p_batches INTO last, is_behind FROM (
        SELECT b.first_position FROM tiffin.batches AS b
        WHERE b.partition = p_partition AND b.first_position > reached AND b.first_position <= least(
                4611686018427387904, (SELECT h.position FROM tiffin.log_head AS h WHERE h.partition = p_partition))
        ORDER BY b.first_position LIMIT p_batches) AS b;
    IF last IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO tiffin.stream_index
    SELECT p_partition, stream, first_position FROM (
        SELECT DISTINCT hashtextextended(split_part(e.line, E'\t', 1), 0) AS stream, b.first_position
        FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\n') AS e (line)
        WHERE b.partition = p_partition AND b.first_position > reached AND b.first_position <= last
            AND e.line <> '') AS s
    ORDER BY stream, first_position;
    DELETE FROM tiffin.stream_index WHERE partition = p_partition AND stream IS NULL;
    INSERT INTO tiffin.stream_index VALUES (p_partition, NULL, last);
END
$$;
