-- The event log. One row an event, one row a batch, one row a partition.
--
-- An append locks the head of its partition, so positions are dense and become visible in the order of their
-- commits. There is no sequence, no trigger and no volatile default: what is written is what the writer said.

CREATE TABLE tiffin.events (
    partition      smallint    NOT NULL,
    position       bigint      NOT NULL,
    stream         text        COLLATE "C" NOT NULL,
    version        bigint      NOT NULL,
    kind           text        NOT NULL,
    schema_version integer     NOT NULL,
    payload        text        NOT NULL,
    metadata       text        NOT NULL,
    recorded_at    timestamptz NOT NULL,
    PRIMARY KEY (partition, position),
    UNIQUE (partition, stream, version)
);
COMMENT ON TABLE tiffin.events IS 'What happened. Payload and metadata are JSON text.';

CREATE TABLE tiffin.commits (
    partition        smallint    NOT NULL,
    first_position   bigint      NOT NULL,
    last_position    bigint      NOT NULL,
    content_digest   bytea       NOT NULL,
    chain_digest     bytea       NOT NULL,
    submitted_digest bytea,
    recorded_at      timestamptz NOT NULL,
    PRIMARY KEY (partition, first_position)
);
COMMENT ON COLUMN tiffin.commits.content_digest IS
    'Root of the RFC 6962 Merkle tree over the canonical bytes of the batch''s events.';
COMMENT ON COLUMN tiffin.commits.chain_digest IS 'SHA-256 of the previous chain digest and the content digest.';
COMMENT ON COLUMN tiffin.commits.submitted_digest IS
    'The content digest that the writer sent, where conflicts made the content a different one.';

CREATE TABLE tiffin.log_head (
    partition smallint NOT NULL PRIMARY KEY,
    position  bigint   NOT NULL,
    digest    bytea    NOT NULL,
    epoch     bigint   NOT NULL DEFAULT 0
);
COMMENT ON COLUMN tiffin.log_head.epoch IS
    'Rises when a batch is declared not to be in the log, so that nothing sent before can still get in.';
COMMENT ON TABLE tiffin.log_head IS 'Where each partition stands. Its lock is what orders the writers.';

-- The bytes that an event's digest covers: numbers big-endian, texts with their length before them.
CREATE FUNCTION tiffin.canonical_bytes(
    stream text, version bigint, kind text, schema_version integer, payload text, metadata text,
    recorded_at timestamptz
) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT int4send(octet_length(stream)) || convert_to(stream, 'UTF8')
        || int8send(version)
        || int4send(octet_length(kind)) || convert_to(kind, 'UTF8')
        || int4send(schema_version)
        || int4send(octet_length(payload)) || convert_to(payload, 'UTF8')
        || int4send(octet_length(metadata)) || convert_to(metadata, 'UTF8')
        || int8send((extract(epoch FROM recorded_at) * 1000)::bigint)
$$;

-- The root of the RFC 6962 Merkle tree over leaf digests, for batches of which a part was refused.
CREATE FUNCTION tiffin.merkle_root(leaves bytea[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    level bytea[] := leaves;
    above bytea[];
BEGIN
    IF cardinality(level) = 0 THEN
        RETURN sha256('');
    END IF;
    WHILE cardinality(level) > 1 LOOP
        above := '{}';
        FOR i IN 1 .. cardinality(level) BY 2 LOOP
            above := above || CASE
                WHEN i < cardinality(level) THEN sha256('\x01'::bytea || level[i] || level[i + 1])
                ELSE level[i]
            END;
        END LOOP;
        level := above;
    END LOOP;
    RETURN level[1];
END
$$;

-- Appends a batch, and returns the position before it and the groups that were refused.
--
-- p_seen is the position up to which the writer knows the partition. If the head still stands there, nobody
-- else has written and nothing can conflict. Otherwise a stream that was written since conflicts, and every
-- group that holds an event of it is refused; the others are appended.
--
-- p_epoch is the epoch that the writer knows. In another one everything is refused: the batch may be one that
-- its writer gave up for lost and has decided anew.
CREATE FUNCTION tiffin.append(
    p_partition smallint, p_seen bigint, p_content_digest bytea, p_recorded_at timestamptz,
    p_streams text[], p_versions bigint[], p_kinds text[], p_schema_versions integer[], p_payloads text[],
    p_metadata text[], p_groups integer[], p_epoch bigint,
    OUT previous_position bigint, OUT conflicts integer[], OUT epoch bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head record;
    written text[];
    content bytea := p_content_digest;
    submitted bytea;
    appended bigint := cardinality(p_streams);
    chain bytea;
BEGIN
    SELECT h.position, h.digest, h.epoch INTO STRICT head FROM tiffin.log_head AS h
    WHERE h.partition = p_partition FOR UPDATE;
    previous_position := head.position;
    conflicts := '{}';
    epoch := head.epoch;
    IF head.epoch <> p_epoch THEN
        SELECT array_agg(DISTINCT g) INTO conflicts FROM unnest(p_groups) AS g;
        RETURN;
    END IF;

    IF head.position < p_seen THEN
        RAISE EXCEPTION 'the log ends at %, but the writer has seen %', head.position, p_seen
            USING ERRCODE = 'data_corrupted';
    END IF;
    IF head.position > p_seen THEN
        SELECT array_agg(DISTINCT stream) INTO written FROM tiffin.events
        WHERE partition = p_partition AND position > p_seen AND stream = ANY (p_streams);
        IF written IS NOT NULL THEN
            SELECT array_agg(DISTINCT e.of_group) INTO conflicts FROM unnest(p_streams, p_groups) AS e (stream, of_group)
            WHERE e.stream = ANY (written);
        END IF;
    END IF;

    IF cardinality(conflicts) = 0 THEN
        INSERT INTO tiffin.events
        SELECT p_partition, head.position + e.number, e.stream, e.version, e.kind, e.schema_version, e.payload,
            e.metadata, p_recorded_at
        FROM unnest(p_streams, p_versions, p_kinds, p_schema_versions, p_payloads, p_metadata) WITH ORDINALITY
            AS e (stream, version, kind, schema_version, payload, metadata, number);
    ELSE
        INSERT INTO tiffin.events
        SELECT p_partition, head.position + row_number() OVER (ORDER BY e.number), e.stream, e.version, e.kind,
            e.schema_version, e.payload, e.metadata, p_recorded_at
        FROM unnest(p_streams, p_versions, p_kinds, p_schema_versions, p_payloads, p_metadata, p_groups)
            WITH ORDINALITY AS e (stream, version, kind, schema_version, payload, metadata, of_group, number)
        WHERE NOT e.of_group = ANY (conflicts);
        GET DIAGNOSTICS appended = ROW_COUNT;
        IF appended = 0 THEN
            RETURN;
        END IF;
        submitted := p_content_digest;
        SELECT tiffin.merkle_root(array_agg(
            sha256('\x00'::bytea || tiffin.canonical_bytes(
                stream, version, kind, schema_version, payload, metadata, recorded_at))
            ORDER BY position)) INTO content
        FROM tiffin.events WHERE partition = p_partition AND position > head.position;
    END IF;

    chain := sha256(head.digest || content);
    INSERT INTO tiffin.commits VALUES (
        p_partition, head.position + 1, head.position + appended, content, chain, submitted, p_recorded_at);
    UPDATE tiffin.log_head SET position = head.position + appended, digest = chain
    WHERE partition = p_partition;
END
$$;

-- What became of a batch whose writer lost its connection: the positions it was given, or nothing. Waits for an
-- append that is still under way. Where the answer is nothing, a new epoch begins, so that it stays true: the
-- batch may still be on its way through a connection that only the writer takes for dead.
CREATE FUNCTION tiffin.outcome(
    p_partition smallint, p_seen bigint, p_content_digest bytea,
    OUT first_position bigint, OUT last_position bigint, OUT epoch bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT h.epoch INTO STRICT epoch FROM tiffin.log_head AS h WHERE h.partition = p_partition FOR UPDATE;
    SELECT c.first_position, c.last_position INTO first_position, last_position FROM tiffin.commits c
    WHERE c.partition = p_partition AND c.first_position > p_seen
        AND coalesce(c.submitted_digest, c.content_digest) = p_content_digest;
    IF first_position IS NULL THEN
        epoch := epoch + 1;
        UPDATE tiffin.log_head AS h SET epoch = outcome.epoch WHERE h.partition = p_partition;
    END IF;
END
$$;

-- What the server may do. It appends through the function alone: no statement of its own can change or remove
-- what is in the log.
DO $$
BEGIN
    CREATE ROLE tiffin_server NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;
GRANT USAGE ON SCHEMA tiffin TO tiffin_server;
GRANT SELECT ON tiffin.events, tiffin.commits, tiffin.log_head TO tiffin_server;
REVOKE ALL ON FUNCTION
    tiffin.append(
        smallint, bigint, bytea, timestamptz, text[], bigint[], text[], integer[], text[], text[], integer[],
        bigint),
    tiffin.outcome(smallint, bigint, bytea)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    tiffin.append(
        smallint, bigint, bytea, timestamptz, text[], bigint[], text[], integer[], text[], text[], integer[],
        bigint),
    tiffin.outcome(smallint, bigint, bytea)
TO tiffin_server;
