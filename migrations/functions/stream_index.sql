-- Where the events of a stream are.

-- The first position of the batch up to which the index of streams is complete; nothing if it does not say so, or names
-- no batch. A set, like that of tiffin.batch_at.
CREATE OR REPLACE FUNCTION tiffin.indexed_up_to(p_partition smallint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT first_position FROM tiffin.batches
    WHERE partition = p_partition AND first_position = (
        SELECT CASE WHEN count(*) = 1 THEN max(first_position) END FROM tiffin.stream_index
        WHERE partition = p_partition AND stream IS NULL)
$$;

-- The batches that may hold events of a stream: those that the index names, and all that it does not reach yet.
CREATE OR REPLACE FUNCTION tiffin.batches_of(p_partition smallint, p_stream text)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT first_position FROM tiffin.stream_index
    WHERE partition = p_partition AND stream = hashtextextended(p_stream, 0)
    UNION
    SELECT first_position FROM tiffin.batches
    WHERE partition = p_partition AND first_position > coalesce(
            (SELECT reached FROM tiffin.indexed_up_to(p_partition) AS reached), 0)
        -- A range with two ends is what the planner takes for small.
        AND first_position <= 4611686018427387904
        AND (strpos(events, p_stream || E'\t') > 0 OR events IS NULL)
$$;

-- The events of a stream, as rows of tiffin.events. OFFSET 0 keeps the planner from reading every batch instead.
CREATE OR REPLACE FUNCTION tiffin.events_of(p_stream text) RETURNS SETOF tiffin.events LANGUAGE sql STABLE AS $$
    SELECT e.partition, e.position, e.stream, e.version, e.kind, e.schema_version, e.payload, e.metadata, e.recorded_at
    FROM tiffin.log_head AS h
        CROSS JOIN LATERAL tiffin.batches_of(h.partition, p_stream) AS found (first_position)
        CROSS JOIN LATERAL (
            SELECT * FROM tiffin.batch_events AS e
            WHERE e.partition = h.partition AND e.first_position = found.first_position OFFSET 0) AS e
    WHERE e.stream = p_stream
    ORDER BY e.position
$$;

-- Adds batches to the index of streams, up to a number of batches, and returns whether others are left: NULL where the next
-- one was archived, so that tiffin.index_archived has to be told of its streams. One at a time: whoever comes second goes on
-- where the first one stopped. Batches behind the head are left out: others may still come before them.
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
    IF (SELECT b.events IS NULL FROM tiffin.batches AS b
        WHERE b.partition = p_partition AND b.first_position > reached ORDER BY b.first_position LIMIT 1)
    THEN
        RETURN;
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

-- Adds archived batches behind a position, up to the one that begins at another, to the index of streams: which stream has
-- events in which batch. Does nothing if the index does not end at the position: somebody else was faster.
CREATE OR REPLACE FUNCTION tiffin.index_archived(
    p_partition smallint, p_after bigint, p_last bigint, p_streams text[], p_batches bigint[]
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1953064550, p_partition);
    IF coalesce((SELECT i FROM tiffin.indexed_up_to(p_partition) AS i), 0) <> p_after THEN
        RETURN;
    END IF;
    INSERT INTO tiffin.stream_index
    SELECT DISTINCT p_partition, hashtextextended(s.stream, 0), s.batch FROM unnest(p_streams, p_batches) AS s (stream, batch)
    ORDER BY 2, 3;
    DELETE FROM tiffin.stream_index WHERE partition = p_partition AND stream IS NULL;
    INSERT INTO tiffin.stream_index VALUES (p_partition, NULL, p_last);
END
$$;

-- Adds rows to the index of streams that it should have and has not: those of a stream, or of any if that is NULL, in
-- batches after a position, up to a number of batches. Returns how many there were, and the position to go on from;
-- NULL at the end. What the index does not reach is no gap.
CREATE OR REPLACE FUNCTION tiffin.mend_index(
    p_partition smallint, p_stream text, p_after bigint, p_batches integer, OUT missing bigint, OUT reached bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    missing := 0;
    PERFORM pg_advisory_xact_lock(1953064550, p_partition);
    SELECT max(b.first_position) INTO reached FROM (
        SELECT first_position FROM tiffin.batches
        WHERE partition = p_partition AND first_position > p_after
            AND first_position <= (SELECT i FROM tiffin.indexed_up_to(p_partition) AS i)
        ORDER BY first_position LIMIT p_batches) AS b;
    IF reached IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO tiffin.stream_index
    SELECT p_partition, s.stream, s.first_position FROM (
        SELECT DISTINCT hashtextextended(split_part(e.line, E'\t', 1), 0) AS stream, b.first_position
        FROM (
            SELECT first_position, events FROM tiffin.batches
            WHERE partition = p_partition AND first_position > p_after AND first_position <= reached
                AND (p_stream IS NULL OR strpos(events, p_stream || E'\t') > 0) OFFSET 0) AS b
            CROSS JOIN LATERAL string_to_table(b.events, E'\n') AS e (line)
        WHERE e.line <> '' AND (p_stream IS NULL OR starts_with(e.line, p_stream || E'\t'))) AS s
    -- The order makes this a look at the index.
    WHERE (SELECT i.first_position FROM tiffin.stream_index AS i
        WHERE i.partition = p_partition AND i.stream = s.stream AND i.first_position = s.first_position
        ORDER BY i.first_position LIMIT 1) IS NULL
    ORDER BY s.stream, s.first_position;
    GET DIAGNOSTICS missing = ROW_COUNT;
END
$$;
