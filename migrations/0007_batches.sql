-- A batch becomes one row that holds its events as lines of text. The row is what an append writes; what SQL knows as
-- tiffin.events and tiffin.commits become views of it.
--
-- A line has the fields stream, version, kind, schema version, payload and metadata, with a tab between them. JSON
-- escapes tabs and line breaks, and no name has any. An empty line stands for an event that was lost.

-- The tables of before. The program moves what they hold, in steps, and drops them.
ALTER TABLE tiffin.events RENAME TO event_rows;
ALTER TABLE tiffin.commits RENAME TO commit_rows;
DROP FUNCTION tiffin.append(
    smallint, bigint, bytea, timestamptz, text[], bigint[], text[], integer[], text[], text[], integer[], bigint);

CREATE TABLE tiffin.batches (
    partition        smallint    NOT NULL,
    first_position   bigint      NOT NULL,
    last_position    bigint      NOT NULL,
    content_digest   bytea       NOT NULL,
    chain_digest     bytea       NOT NULL,
    submitted_digest bytea,
    recorded_at      timestamptz NOT NULL,
    events           text        NOT NULL,
    PRIMARY KEY (partition, first_position)
);
COMMENT ON TABLE tiffin.batches IS 'What happened: one row a batch, with its events in the order of their positions.';
COMMENT ON COLUMN tiffin.batches.content_digest IS
    'Root of the RFC 6962 Merkle tree over the canonical bytes of the batch''s events.';
COMMENT ON COLUMN tiffin.batches.chain_digest IS 'SHA-256 of the previous chain digest and the content digest.';
COMMENT ON COLUMN tiffin.batches.submitted_digest IS
    'The content digest that the writer sent, where conflicts made the content a different one.';
COMMENT ON COLUMN tiffin.batches.events IS
    'A line an event: stream, version, kind, schema version, payload and metadata, with tabs between them.';

-- LZ4 costs an append a fraction of what the default method does, and saves writing most of the text.
DO $$
BEGIN
    ALTER TABLE tiffin.batches ALTER COLUMN events SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL; -- this PostgreSQL was built without it
END
$$;

-- Where the events of a stream are: derived from the batches by tiffin.index_streams, off the path of an append, and
-- complete up to the position in the row without a stream. So an index that was emptied is one that has to begin anew.
CREATE TABLE tiffin.stream_index (
    partition      smallint NOT NULL,
    stream         bigint,
    first_position bigint   NOT NULL
);
CREATE INDEX stream_index_key ON tiffin.stream_index (partition, stream, first_position);
COMMENT ON TABLE tiffin.stream_index IS
    'Which batches hold events of which stream. Derived: if it is emptied, servers fill it again.';
COMMENT ON COLUMN tiffin.stream_index.stream IS
    'hashtextextended of the stream''s name; NULL in the row that says up to which batch the index is complete.';

-- Reading

-- The batches of a partition's events after a position, up to another: for functions and statements that read a part.
CREATE VIEW tiffin.batch_events AS
SELECT b.partition,
       b.first_position,
       -- The position of a damaged batch may be any number.
       least(b.first_position, 9223372036854775808 - e.number)::bigint + (e.number - 1) AS position,
       split_part(e.line, E'\t', 1) COLLATE "C" AS stream,
       split_part(e.line, E'\t', 2)::bigint     AS version,
       split_part(e.line, E'\t', 3)             AS kind,
       split_part(e.line, E'\t', 4)::integer    AS schema_version,
       split_part(e.line, E'\t', 5)             AS payload,
       split_part(e.line, E'\t', 6)             AS metadata,
       b.recorded_at
FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\n') WITH ORDINALITY AS e (line, number)
WHERE e.line <> '';
COMMENT ON VIEW tiffin.batch_events IS
    'Every event, with the first position of its batch: a condition on that is answered by the key of tiffin.batches.';

CREATE VIEW tiffin.events AS
SELECT partition, position, stream, version, kind, schema_version, payload, metadata, recorded_at
FROM tiffin.batch_events;
COMMENT ON VIEW tiffin.events IS 'What happened, one row an event. Payload and metadata are JSON text.';

CREATE VIEW tiffin.commits AS
SELECT partition, first_position, last_position, content_digest, chain_digest, submitted_digest, recorded_at
FROM tiffin.batches;
COMMENT ON VIEW tiffin.commits IS 'The batches, without their events.';

-- The first position of the batch that holds a position, or of the next batch. Passes over batches at positions that no
-- batch can have.
CREATE FUNCTION tiffin.batch_at(p_partition smallint, p_position bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
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

-- The events of a partition at positions, as rows of tiffin.events.
CREATE FUNCTION tiffin.events_between(p_partition smallint, p_first bigint, p_last bigint)
RETURNS SETOF tiffin.events LANGUAGE sql STABLE AS $$
    SELECT partition, position, stream, version, kind, schema_version, payload, metadata, recorded_at
    FROM tiffin.batch_events
    WHERE partition = p_partition AND first_position >= tiffin.batch_at(p_partition, p_first)
        AND first_position <= p_last AND position BETWEEN p_first AND p_last
    ORDER BY position
$$;

-- The first position of the batch up to which the index of streams is complete; nothing if it does not say so, or names
-- no batch. A set, because PostgreSQL makes such a function a part of the statement.
CREATE FUNCTION tiffin.indexed_up_to(p_partition smallint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT first_position FROM tiffin.batches
    WHERE partition = p_partition AND first_position = (
        SELECT CASE WHEN count(*) = 1 THEN max(first_position) END FROM tiffin.stream_index
        WHERE partition = p_partition AND stream IS NULL)
$$;

-- The batches that may hold events of a stream: those that the index names, and all that it does not reach yet.
CREATE FUNCTION tiffin.batches_of(p_partition smallint, p_stream text)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT first_position FROM tiffin.stream_index
    WHERE partition = p_partition AND stream = hashtextextended(p_stream, 0)
    UNION
    SELECT first_position FROM tiffin.batches
    WHERE partition = p_partition AND first_position > coalesce(
            (SELECT reached FROM tiffin.indexed_up_to(p_partition) AS reached), 0)
        -- A range with two ends is what the planner takes for small.
        AND first_position <= 4611686018427387904
        AND strpos(events, p_stream || E'\t') > 0
$$;

-- The events of a stream, as rows of tiffin.events. OFFSET 0 keeps the planner from reading every batch instead.
CREATE FUNCTION tiffin.events_of(p_stream text) RETURNS SETOF tiffin.events LANGUAGE sql STABLE AS $$
    SELECT e.partition, e.position, e.stream, e.version, e.kind, e.schema_version, e.payload, e.metadata, e.recorded_at
    FROM tiffin.log_head AS h
        CROSS JOIN LATERAL tiffin.batches_of(h.partition, p_stream) AS found (first_position)
        CROSS JOIN LATERAL (
            SELECT * FROM tiffin.batch_events AS e
            WHERE e.partition = h.partition AND e.first_position = found.first_position OFFSET 0) AS e
    WHERE e.stream = p_stream
    ORDER BY e.position
$$;

-- Appending

-- The bytes that the digest of an event covers, from its line.
CREATE FUNCTION tiffin.canonical_bytes(line text, recorded_at timestamptz) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT tiffin.canonical_bytes(
        split_part(line, E'\t', 1), split_part(line, E'\t', 2)::bigint, split_part(line, E'\t', 3),
        split_part(line, E'\t', 4)::integer, split_part(line, E'\t', 5), split_part(line, E'\t', 6), recorded_at)
$$;

-- Appends a batch, and returns the position before it and the groups that were refused.
--
-- p_seen is the position up to which the writer knows the partition. If the head still stands there, nobody else has
-- written and nothing can conflict: then this is one change of the head and one new row. Otherwise the answer is NULL,
-- and the writer asks again with the groups of its events. Now a stream that was written since conflicts, and every
-- group that holds an event of it is refused; the others are appended.
--
-- p_new are the streams that begin with this batch. If the index has one of them, the writer is wrong: nothing is
-- appended, and `stale` names it.
--
-- p_epoch is the epoch that the writer knows. In another one nothing is appended: the batch may be one that its
-- writer gave up for lost and has decided anew.
CREATE FUNCTION tiffin.append(
    p_partition smallint, p_seen bigint, p_epoch bigint, p_content_digest bytea, p_recorded_at timestamptz,
    p_count integer, p_events text, p_new text[], p_groups integer[],
    OUT previous_position bigint, OUT epoch bigint, OUT conflicts integer[], OUT stale text[]
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head record;
    written text[];
    kept text := p_events;
    appended bigint := p_count;
    content bytea := p_content_digest;
    submitted bytea;
    chain bytea;
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
        RETURN;
    END IF;

    IF p_groups IS NULL THEN
        UPDATE tiffin.log_head AS h
        SET position = p_seen + p_count, digest = sha256(h.digest || p_content_digest)
        WHERE h.partition = p_partition AND h.position = p_seen AND h.epoch = p_epoch
        RETURNING h.digest INTO chain;
        IF FOUND THEN
            previous_position := p_seen;
            INSERT INTO tiffin.batches VALUES (
                p_partition, p_seen + 1, p_seen + p_count, p_content_digest, chain, NULL, p_recorded_at, p_events);
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
    IF head.position < p_seen THEN
        RAISE EXCEPTION 'the log ends at %, but the writer has seen %', head.position, p_seen
            USING ERRCODE = 'data_corrupted';
    END IF;
    previous_position := head.position;

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

    chain := sha256(head.digest || content);
    INSERT INTO tiffin.batches VALUES (
        p_partition, head.position + 1, head.position + appended, content, chain, submitted, p_recorded_at, kept);
    UPDATE tiffin.log_head SET position = head.position + appended, digest = chain
    WHERE partition = p_partition;
END
$$;

-- As before, in the new table.
CREATE OR REPLACE FUNCTION tiffin.outcome(
    p_partition smallint, p_seen bigint, p_content_digest bytea,
    OUT first_position bigint, OUT last_position bigint, OUT epoch bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT h.epoch INTO STRICT epoch FROM tiffin.log_head AS h WHERE h.partition = p_partition FOR UPDATE;
    SELECT b.first_position, b.last_position INTO first_position, last_position FROM tiffin.batches AS b
    WHERE b.partition = p_partition AND b.first_position > p_seen
        AND coalesce(b.submitted_digest, b.content_digest) = p_content_digest;
    IF first_position IS NULL THEN
        epoch := epoch + 1;
        UPDATE tiffin.log_head AS h SET epoch = outcome.epoch WHERE h.partition = p_partition;
    END IF;
END
$$;

-- Indexing

-- Adds batches to the index of streams, up to a number of batches, and returns whether others are left. Whoever finds
-- another at it leaves it to that one. Batches behind the head are left out: others may still come before them.
CREATE FUNCTION tiffin.index_streams(p_partition smallint, p_batches integer, OUT is_behind boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reached bigint;
    last bigint;
BEGIN
    is_behind := false;
    -- The first of the two keys says what the lock is for.
    IF NOT pg_try_advisory_xact_lock(1953064550, p_partition) THEN
        RETURN;
    END IF;
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

GRANT SELECT ON tiffin.batches, tiffin.batch_events, tiffin.events, tiffin.commits, tiffin.stream_index TO tiffin_server;
REVOKE ALL ON FUNCTION
    tiffin.append(smallint, bigint, bigint, bytea, timestamptz, integer, text, text[], integer[]),
    tiffin.index_streams(smallint, integer)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    tiffin.append(smallint, bigint, bigint, bytea, timestamptz, integer, text, text[], integer[]),
    tiffin.index_streams(smallint, integer)
TO tiffin_server;
