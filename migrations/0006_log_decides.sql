-- Where a head contradicts the events, the events decide: a head that lies before events that a writer has read, or
-- beyond every possible position, is taken to be at the last event. So a damaged head does not refuse every append
-- for ever. The audit reports the events that no batch covers.
--
-- Otherwise this is the function of migration 1.
CREATE OR REPLACE FUNCTION tiffin.append(
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

    -- 2^62: the highest position that an append gives. Neither branch is ever taken on a log that is whole.
    IF head.position < p_seen OR head.position > 4611686018427387904 THEN
        SELECT coalesce(max(position), 0) INTO head.position FROM tiffin.events
        WHERE partition = p_partition AND position <= 4611686018427387904;
        previous_position := head.position;
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
