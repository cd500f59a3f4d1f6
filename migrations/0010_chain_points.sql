-- Whoever goes on from a point of the log says which chain it has read up to there, and is refused where the log has
-- another one: after a standby was promoted that lacked the newest batches, or a backup was restored.

-- Whether a partition has a point. Behind damage, and where the chain is not known, only the position is compared.
CREATE FUNCTION tiffin.has_point(p_partition smallint, p_position bigint, p_digest bytea)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_position = 0 OR coalesce(
        (SELECT CASE
            WHEN b.last_position = p_position THEN p_digest IS NULL OR b.chain_digest = p_digest
            WHEN b.last_position BETWEEN p_position AND b.first_position + 9999 THEN p_digest IS NULL
         END FROM (
            SELECT first_position, last_position, chain_digest FROM tiffin.batches
            WHERE partition = p_partition AND first_position <= p_position
            ORDER BY first_position DESC LIMIT 1) AS b),
        -- The batch was removed, if there is one behind it or the head says that there was.
        EXISTS (
            SELECT FROM tiffin.batches WHERE partition = p_partition AND first_position > p_position
                AND first_position <= 4611686018427387904)
        OR EXISTS (SELECT FROM tiffin.log_head WHERE partition = p_partition AND position >= p_position))
$$;

-- The chain up to a position; NULL where no batch ends there.
CREATE FUNCTION tiffin.chain_at(p_partition smallint, p_position bigint) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN last_position = p_position THEN chain_digest END FROM (
        SELECT last_position, chain_digest FROM tiffin.batches
        WHERE partition = p_partition AND first_position <= p_position
        ORDER BY first_position DESC LIMIT 1) AS b
$$;

ALTER TABLE tiffin.projection_checkpoints ADD COLUMN chain_digest bytea;
COMMENT ON COLUMN tiffin.projection_checkpoints.chain_digest IS
    'The chain of the log up to the position. NULL where it was not known.';

-- As before, with the point that the writer has seen in place of the position, and the chain before and after what was
-- appended.
DROP FUNCTION tiffin.append(smallint, bigint, bigint, bytea, timestamptz, integer, text, text[], integer[]);
CREATE FUNCTION tiffin.append(
    p_partition smallint, p_seen bigint, p_seen_digest bytea, p_epoch bigint, p_content_digest bytea,
    p_recorded_at timestamptz, p_count integer, p_events text, p_new text[], p_groups integer[],
    OUT previous_position bigint, OUT epoch bigint, OUT conflicts integer[], OUT stale text[],
    OUT previous_digest bytea, OUT chain_digest bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
    IF head.position < p_seen OR NOT tiffin.has_point(p_partition, p_seen, p_seen_digest) THEN
        RAISE EXCEPTION 'the log is not the one that was read up to position %', p_seen USING ERRCODE = 'TF001';
    END IF;
    previous_position := head.position;
    previous_digest := head.digest;
    chain_digest := head.digest;

    SELECT array_agg(DISTINCT stream) INTO written
    FROM tiffin.events_between(p_partition, p_seen + 1, head.position);
    SELECT array_agg(DISTINCT p_groups[l.number]) INTO conflicts
    FROM string_to_table(p_events, E'\n') WITH ORDINALITY AS l (line, number)
    WHERE split_part(l.line, E'\t', 1) = ANY (written);
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

-- As before, with the chain before and after the batch. The new epoch is newer than any that the writer has sent the batch
-- in: a log that lost its newest batches may have lost epochs, too.
DROP FUNCTION tiffin.outcome(smallint, bigint, bytea);
CREATE FUNCTION tiffin.outcome(
    p_partition smallint, p_seen bigint, p_epoch bigint, p_content_digest bytea,
    OUT first_position bigint, OUT last_position bigint, OUT epoch bigint, OUT previous_digest bytea,
    OUT chain_digest bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT h.epoch INTO STRICT epoch FROM tiffin.log_head AS h WHERE h.partition = p_partition FOR UPDATE;
    SELECT b.first_position, b.last_position, b.chain_digest
    INTO outcome.first_position, outcome.last_position, outcome.chain_digest FROM tiffin.batches AS b
    WHERE b.partition = p_partition AND b.first_position > p_seen
        AND coalesce(b.submitted_digest, b.content_digest) = p_content_digest;
    IF first_position IS NULL THEN
        epoch := greatest(epoch, p_epoch) + 1;
        UPDATE tiffin.log_head AS h SET epoch = outcome.epoch WHERE h.partition = p_partition;
    ELSE
        previous_digest := CASE first_position WHEN 1 THEN decode(repeat('00', 32), 'hex')
            ELSE tiffin.chain_at(p_partition, first_position - 1) END;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION
    tiffin.append(smallint, bigint, bytea, bigint, bytea, timestamptz, integer, text, text[], integer[]),
    tiffin.outcome(smallint, bigint, bigint, bytea)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    tiffin.append(smallint, bigint, bytea, bigint, bytea, timestamptz, integer, text, text[], integer[]),
    tiffin.outcome(smallint, bigint, bigint, bytea)
TO tiffin_server;
