-- What is derived from the log decides nothing that the log says otherwise, and an append is planned once.

-- The version of a cart's last event: so a stream of which its index lacks a batch is not taken for a shorter one. -1 in
-- rows of an earlier version of the projection. Only the present versions can go back to a generation that is kept.
ALTER TABLE tiffin.cart_count_rows ADD COLUMN version integer NOT NULL DEFAULT -1;
COMMENT ON COLUMN tiffin.cart_count_rows.version IS 'The version of the cart''s last event; -1 where it is not known.';
DELETE FROM tiffin.outlet_home_rows AS r USING tiffin.projection_checkpoints AS c
WHERE c.state = 'previous' AND c.projection = 'outlet_home' AND (r.partition, r.generation) = (c.partition, c.generation);
DELETE FROM tiffin.cart_count_rows AS r USING tiffin.projection_checkpoints AS c
WHERE c.state = 'previous' AND c.projection = 'cart_counts' AND (r.partition, r.generation) = (c.partition, c.generation);
DELETE FROM tiffin.quarantine AS r USING tiffin.projection_checkpoints AS c
WHERE c.state = 'previous' AND c.projection IN ('outlet_home', 'cart_counts')
    AND (r.partition, r.projection, r.generation) = (c.partition, c.projection, c.generation);
DELETE FROM tiffin.projection_checkpoints WHERE state = 'previous' AND projection IN ('outlet_home', 'cart_counts');

-- Adds rows to the index of streams that it should have and has not: those of a stream, or of any if that is NULL, in
-- batches after a position, up to a number of batches. Returns how many there were, and the position to go on from; NULL
-- at the end. What the index does not reach is no gap.
CREATE FUNCTION tiffin.mend_index(
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
REVOKE ALL ON FUNCTION tiffin.mend_index(smallint, text, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tiffin.mend_index(smallint, text, bigint, integer) TO tiffin_server;

-- As before, with plans that are kept: they depended on no value, and were made at every call.
CREATE OR REPLACE FUNCTION tiffin.append(
    p_partition smallint, p_seen bigint, p_seen_digest bytea, p_epoch bigint, p_content_digest bytea,
    p_recorded_at timestamptz, p_count integer, p_events text, p_new text[], p_groups integer[],
    p_readings text[], p_reading_groups integer[],
    OUT previous_position bigint, OUT epoch bigint, OUT conflicts integer[], OUT stale text[],
    OUT previous_digest bytea, OUT chain_digest bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    head record;
    written text[];
    kept text := p_events;
    appended bigint := p_count;
    content bytea := p_content_digest;
    submitted bytea;
BEGIN
    epoch := p_epoch;
    IF cardinality(p_new) > 0 THEN
        -- The order makes this a look at the index, however small the planner takes the table to be.
        SELECT array_agg(n) INTO stale FROM unnest(p_new) AS n
        WHERE (SELECT i.first_position FROM tiffin.stream_index AS i
            WHERE i.partition = p_partition AND i.stream = hashtextextended(n, 0)
            ORDER BY i.first_position LIMIT 1) IS NOT NULL;
        IF stale IS NOT NULL THEN
            -- Names that only share a hash are not.
            SELECT array_agg(DISTINCT e.stream) INTO stale
            FROM unnest(stale) AS n CROSS JOIN LATERAL tiffin.events_of(n) AS e
            WHERE e.partition = p_partition AND e.position <= p_seen;
        END IF;
    END IF;
    IF stale IS NOT NULL THEN
        previous_position := p_seen;
        previous_digest := p_seen_digest;
        chain_digest := p_seen_digest;
        RETURN;
    END IF;

    IF p_groups IS NULL THEN
        UPDATE tiffin.log_head AS h
        SET position = p_seen + p_count, digest = sha256(h.digest || p_content_digest)
        WHERE h.partition = p_partition AND h.position = p_seen AND h.epoch = p_epoch
            AND (p_seen_digest IS NULL OR h.digest = p_seen_digest)
        RETURNING h.digest INTO chain_digest;
        IF FOUND THEN
            previous_position := p_seen;
            previous_digest := p_seen_digest;
            INSERT INTO tiffin.batches VALUES (
                p_partition, p_seen + 1, p_seen + p_count, p_content_digest, chain_digest, NULL, p_recorded_at,
                p_events);
        END IF;
        RETURN;
    END IF;

    SELECT h.position, h.digest, h.epoch INTO STRICT head FROM tiffin.log_head AS h
    WHERE h.partition = p_partition FOR UPDATE;
    epoch := head.epoch;
    IF head.epoch <> p_epoch THEN
        RETURN;
    END IF;
    -- Where the head contradicts the batches, they decide. 2^62: the highest position that an append gives. Neither
    -- branch is ever taken on a log that is whole.
    IF head.position < p_seen OR head.position > 4611686018427387904 THEN
        SELECT coalesce(max(last_position), 0) INTO head.position FROM (
            SELECT last_position FROM tiffin.batches
            WHERE partition = p_partition AND first_position <= 4611686018427387904
                AND last_position <= 4611686018427387904
            ORDER BY first_position DESC LIMIT 1) AS b;
    END IF;
    -- As tiffin.has_point says: a function of its own would be planned each time.
    IF head.position < p_seen OR p_seen > 0 AND NOT coalesce((
        SELECT CASE
            WHEN b.last_position = p_seen THEN p_seen_digest IS NULL OR b.chain_digest = p_seen_digest
            WHEN b.last_position BETWEEN p_seen AND b.first_position + 9999 THEN p_seen_digest IS NULL
        END FROM (
            SELECT first_position, last_position, batches.chain_digest FROM tiffin.batches
            WHERE partition = p_partition AND first_position <= p_seen
            ORDER BY first_position DESC LIMIT 1) AS b), true)
    THEN
        RAISE EXCEPTION 'the log is not the one that was read up to position %', p_seen USING ERRCODE = 'TF001';
    END IF;
    -- The head's digest follows from the batches, and so does not decide either.
    IF head.position = p_seen AND p_seen_digest IS NOT NULL THEN
        head.digest := p_seen_digest;
    END IF;
    previous_position := head.position;
    previous_digest := head.digest;
    chain_digest := head.digest;

    -- As tiffin.events_between finds them.
    SELECT array_agg(DISTINCT split_part(l.line, E'\t', 1)) INTO written
    FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\n') WITH ORDINALITY AS l (line, number)
    WHERE b.partition = p_partition AND b.first_position <= head.position AND b.first_position >= coalesce((
            SELECT before.first_position FROM tiffin.batches AS before
            WHERE before.partition = p_partition AND before.first_position <= p_seen + 1
            ORDER BY before.first_position DESC LIMIT 1), 1)
        AND b.first_position + l.number - 1 BETWEEN p_seen + 1 AND head.position AND l.line <> '';
    SELECT array_agg(DISTINCT c.group_number) INTO conflicts FROM (
        SELECT p_groups[l.number] AS group_number, split_part(l.line, E'\t', 1) AS stream
        FROM string_to_table(p_events, E'\n') WITH ORDINALITY AS l (line, number)
        UNION ALL
        SELECT r.group_number, r.stream FROM unnest(p_reading_groups, p_readings) AS r (group_number, stream)
    ) AS c
    WHERE c.stream = ANY (written);
    IF conflicts IS NOT NULL THEN
        submitted := p_content_digest;
        SELECT string_agg(l.line, E'\n' ORDER BY l.number), count(*), tiffin.merkle_root(array_agg(
                sha256('\x00'::bytea || tiffin.canonical_bytes(l.line, p_recorded_at)) ORDER BY l.number))
        INTO kept, appended, content
        FROM string_to_table(p_events, E'\n') WITH ORDINALITY AS l (line, number)
        WHERE NOT p_groups[l.number] = ANY (conflicts);
        IF appended = 0 THEN
            RETURN;
        END IF;
    END IF;

    chain_digest := sha256(head.digest || content);
    INSERT INTO tiffin.batches VALUES (
        p_partition, head.position + 1, head.position + appended, content, chain_digest, submitted, p_recorded_at,
        kept);
    UPDATE tiffin.log_head SET position = head.position + appended, digest = chain_digest
    WHERE partition = p_partition;
END
$$;
