-- What digests cover. Every log is checked against these, so none of them ever says anything else.

-- The bytes that an event's digest covers: numbers big-endian, texts with their length before them.
CREATE OR REPLACE FUNCTION tiffin.canonical_bytes(
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

-- The same from the event's line.
CREATE OR REPLACE FUNCTION tiffin.canonical_bytes(line text, recorded_at timestamptz)
RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT tiffin.canonical_bytes(
        split_part(line, E'\t', 1), split_part(line, E'\t', 2)::bigint, split_part(line, E'\t', 3),
        split_part(line, E'\t', 4)::integer, split_part(line, E'\t', 5), split_part(line, E'\t', 6), recorded_at)
$$;

-- The root of the RFC 6962 Merkle tree over leaf digests, for batches of which a part was refused.
CREATE OR REPLACE FUNCTION tiffin.merkle_root(leaves bytea[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
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
