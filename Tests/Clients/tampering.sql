-- Makes the view tiffin.events writable, for tests that tamper with events.
--
-- UPDATE rewrites the line of an event, DELETE leaves an empty line. An event that is inserted or moved takes an empty
-- line if its new position has one, and otherwise becomes a batch of its own, without digests.

CREATE SCHEMA IF NOT EXISTS tampering;

-- The lines of a batch. Where there is no text, its only event was deleted.
CREATE OR REPLACE FUNCTION tampering.lines(events text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE events WHEN '' THEN ARRAY[''] ELSE string_to_array(events, E'\n') END
$$;

-- The lines for a position. Any position may be damaged, and as a numeric none overflows.
CREATE OR REPLACE FUNCTION tampering.places(
    p_partition smallint, p_position bigint, OUT first_position bigint, OUT number integer, OUT line text
) RETURNS SETOF record LANGUAGE sql STABLE AS $$
    SELECT b.first_position, l.number::integer, l.line
    FROM tiffin.batches AS b CROSS JOIN LATERAL unnest(tampering.lines(b.events)) WITH ORDINALITY AS l (line, number)
    WHERE b.partition = p_partition AND b.first_position = p_position::numeric + 1 - l.number
$$;

CREATE OR REPLACE FUNCTION tampering.write_line(
    p_partition smallint, p_first_position bigint, p_number integer, p_line text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    lines text[];
BEGIN
    SELECT tampering.lines(events) INTO lines FROM tiffin.batches
    WHERE partition = p_partition AND first_position = p_first_position;
    lines[p_number] := p_line;
    UPDATE tiffin.batches SET events = array_to_string(lines, E'\n')
    WHERE partition = p_partition AND first_position = p_first_position;
    -- Of an event that was here only for a while, nothing is left.
    DELETE FROM tiffin.batches
    WHERE partition = p_partition AND first_position = p_first_position AND events = '' AND content_digest = '';
END
$$;

CREATE OR REPLACE FUNCTION tampering.write_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place record;
    line text;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT * INTO place FROM tampering.places(OLD.partition, OLD.position) AS p
        WHERE split_part(p.line, E'\t', 1) = OLD.stream AND split_part(p.line, E'\t', 2) = OLD.version::text;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'event % of % is not where it was', OLD.position, OLD.stream;
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        line := concat_ws(
            E'\t', NEW.stream, NEW.version, NEW.kind, NEW.schema_version, NEW.payload, NEW.metadata);
    END IF;
    IF TG_OP = 'UPDATE' AND (NEW.partition, NEW.position) = (OLD.partition, OLD.position) THEN
        PERFORM tampering.write_line(OLD.partition, place.first_position, place.number, line);
        UPDATE tiffin.batches SET recorded_at = NEW.recorded_at
        WHERE partition = OLD.partition AND first_position = place.first_position
            AND NEW.recorded_at <> OLD.recorded_at;
        RETURN NEW;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM tampering.write_line(OLD.partition, place.first_position, place.number, '');
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    SELECT * INTO place FROM tampering.places(NEW.partition, NEW.position) AS p WHERE p.line = '';
    IF FOUND THEN
        PERFORM tampering.write_line(NEW.partition, place.first_position, place.number, line);
    ELSE
        INSERT INTO tiffin.batches VALUES (
            NEW.partition, NEW.position, NEW.position, '', '', NULL, NEW.recorded_at, line);
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER write_event INSTEAD OF INSERT OR UPDATE OR DELETE ON tiffin.events
FOR EACH ROW EXECUTE FUNCTION tampering.write_event();
