-- Appends a batch. Returns the point before it, and the chain after it.
--
-- p_seen and p_seen_digest are the point up to which the writer knows the partition. If the head still stands there,
-- nobody else has written and nothing can conflict: then this is one change of the head and one new row. Otherwise the
-- position is NULL, and the writer asks again with the groups of its events (p_groups), and with the streams that
-- groups rest on without writing them (p_readings, p_reading_groups). Now a stream that was written since conflicts.
-- Every group that writes it or rests on it is refused, and named in `conflicts`; the others are appended. A log that
-- does not have the point is refused with TF001.
--
-- p_new are the streams that begin with this batch. If the index has one of them, the writer is wrong: nothing is
-- appended, and `stale` names it.
--
-- p_epoch is the epoch that the writer knows. In another one nothing is appended: the batch may be one that its writer
-- gave up for lost and has decided anew.
--
-- Nothing is appended to a partition that was moved to another database, or is on its way: that is refused with TF002.
--
-- p_only_carts says whether all of the events are of carts. What is left of a batch keeps it: false promises nothing.
--
-- Its plans are kept: they depend on no value.
CREATE OR REPLACE FUNCTION tiffin.append(
    p_partition smallint, p_seen bigint, p_seen_digest bytea, p_epoch bigint, p_content_digest bytea,
    p_recorded_at timestamptz, p_count integer, p_events text, p_new text[], p_groups integer[],
    p_readings text[], p_reading_groups integer[], p_only_carts boolean,
    OUT previous_position bigint, OUT epoch bigint, OUT conflicts integer[], OUT stale text[],
    OUT previous_digest bytea, OUT chain_digest bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    head record;
    is_locked boolean;
    last record;
    reached bigint := p_seen;
    goal bigint;
    refused integer[];
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
            -- Names that only share a hash are not. Of a batch that was archived, nothing but the hash is here.
            SELECT array_agg(n) INTO stale FROM unnest(stale) AS n
            WHERE EXISTS (
                SELECT FROM tiffin.events_of(n) AS e WHERE e.partition = p_partition AND e.position <= p_seen)
                OR EXISTS (
                    SELECT FROM tiffin.stream_index AS i JOIN tiffin.batches AS b
                        ON b.partition = i.partition AND b.first_position = i.first_position
                    WHERE i.partition = p_partition AND i.stream = hashtextextended(n, 0) AND b.events IS NULL);
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
            AND h.moved_to IS NULL AND (p_seen_digest IS NULL OR h.digest = p_seen_digest)
        RETURNING h.digest INTO chain_digest;
        IF FOUND THEN
            previous_position := p_seen;
            previous_digest := p_seen_digest;
            INSERT INTO tiffin.batches VALUES (
                p_partition, p_seen + 1, p_seen + p_count, p_content_digest, chain_digest, NULL, p_recorded_at,
                p_events, p_only_carts);
        END IF;
        RETURN;
    END IF;

    -- What others wrote is read in two parts: what is there already before the head is locked, as nobody waits for that,
    -- and the rest under the lock.
    SELECT b.first_position, b.last_position, b.chain_digest INTO last FROM tiffin.batches AS b
    WHERE b.partition = p_partition
        AND b.first_position <= (SELECT h.position FROM tiffin.log_head AS h WHERE h.partition = p_partition)
    ORDER BY b.first_position DESC LIMIT 1;
    FOREACH is_locked IN ARRAY ARRAY[false, true] LOOP
        IF is_locked THEN
            SELECT h.position, h.digest, h.epoch, h.moved_to INTO STRICT head FROM tiffin.log_head AS h
            WHERE h.partition = p_partition FOR UPDATE;
            IF head.moved_to IS NOT NULL THEN
                RAISE EXCEPTION 'partition % was moved to database %', p_partition, head.moved_to
                    USING ERRCODE = 'TF002';
            END IF;
            epoch := head.epoch;
            IF head.epoch <> p_epoch THEN
                conflicts := NULL;
                RETURN;
            END IF;
            -- Where the head contradicts the batches, they decide. 2^62: the highest position that an append gives.
            -- Neither branch is ever taken on a log that is whole.
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
                RAISE EXCEPTION 'the log is not the one that was read up to position %', p_seen
                    USING ERRCODE = 'TF001';
            END IF;
            -- The head's digest follows from the batches, and so does not decide either; nor does what a writer says
            -- of the beginning, which no batch confirms.
            IF head.position = 0 THEN
                head.digest := decode(repeat('00', 32), 'hex');
            ELSIF head.position = p_seen AND p_seen_digest IS NOT NULL THEN
                head.digest := p_seen_digest;
            END IF;
            -- What was read before counts if the log still has it.
            IF reached > p_seen AND NOT (reached <= head.position AND EXISTS (
                SELECT FROM tiffin.batches AS b
                WHERE b.partition = p_partition AND b.first_position = last.first_position
                    AND b.last_position = reached AND b.chain_digest = last.chain_digest))
            THEN
                reached := p_seen;
                conflicts := NULL;
            END IF;
            goal := head.position;
        ELSE
            goal := last.last_position;
        END IF;
        CONTINUE WHEN goal IS NULL OR goal <= reached;
        -- A writer that has not read what was archived meanwhile begins anew. Older batches are archived first.
        IF (SELECT b.events IS NULL FROM tiffin.batches AS b
            WHERE b.partition = p_partition AND b.first_position > reached ORDER BY b.first_position LIMIT 1)
        THEN
            RAISE EXCEPTION 'the log was archived beyond position %, where the writer stands', reached
                USING ERRCODE = 'TF001';
        END IF;
        -- As tiffin.events_between finds them. IS TRUE: without it the planner may compare all names with all others.
        SELECT array_agg(DISTINCT c.group_number) INTO refused FROM (
            SELECT p_groups[l.number] AS group_number, split_part(l.line, E'\t', 1) AS stream
            FROM string_to_table(p_events, E'\n') WITH ORDINALITY AS l (line, number)
            UNION ALL
            SELECT r.group_number, r.stream FROM unnest(p_reading_groups, p_readings) AS r (group_number, stream)
        ) AS c
        WHERE (c.stream IN (
            SELECT split_part(l.line, E'\t', 1)
            FROM tiffin.batches AS b
                CROSS JOIN LATERAL string_to_table(b.events, E'\n') WITH ORDINALITY AS l (line, number)
            WHERE b.partition = p_partition AND b.first_position <= goal AND b.first_position >= coalesce((
                    SELECT before.first_position FROM tiffin.batches AS before
                    WHERE before.partition = p_partition AND before.first_position <= reached + 1
                    ORDER BY before.first_position DESC LIMIT 1), 1)
                AND b.first_position + l.number - 1 BETWEEN reached + 1 AND goal AND l.line <> '')) IS TRUE;
        conflicts := conflicts || refused;
        reached := goal;
    END LOOP;
    previous_position := head.position;
    previous_digest := head.digest;
    chain_digest := head.digest;

    IF conflicts IS NOT NULL THEN
        submitted := p_content_digest;
        SELECT string_agg(l.line, E'\n' ORDER BY l.number), count(*), tiffin.merkle_root(array_agg(
                sha256('\x00'::bytea || tiffin.canonical_bytes(l.line, p_recorded_at)) ORDER BY l.number))
        INTO kept, appended, content
        FROM string_to_table(p_events, E'\n') WITH ORDINALITY AS l (line, number)
        WHERE NOT p_groups[l.number] IN (SELECT unnest(conflicts));
        IF appended = 0 THEN
            RETURN;
        END IF;
    END IF;

    chain_digest := sha256(head.digest || content);
    INSERT INTO tiffin.batches VALUES (
        p_partition, head.position + 1, head.position + appended, content, chain_digest, submitted, p_recorded_at,
        kept, p_only_carts);
    UPDATE tiffin.log_head SET position = head.position + appended, digest = chain_digest
    WHERE partition = p_partition;
END
$$;
