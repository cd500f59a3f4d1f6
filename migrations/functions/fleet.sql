-- Says that a server is there, and returns what is known then: a row for each server, with its silence in milliseconds
-- and without a partition, and a row for each lease, with the server that holds it. All of it is as of one moment.
--
-- The rows of servers say in which state the leases are. In the state that the caller knows already, they are left out:
-- every server asks twice a second, and they seldom change.
--
-- A server that joins ends whoever had its address: they cannot both be there. Later it does not: two servers that both
-- say, by mistake, that they are at one address would end each other in turn.
CREATE OR REPLACE FUNCTION tiffin.renew_server(
    p_id text, p_address text, p_secret bytea, p_joins boolean, p_known text
) RETURNS TABLE (id text, address text, secret bytea, silence bigint, state text, partition smallint, term bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- A renewal that a crash loses is made again: no need to wait for the disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE tiffin.servers AS s SET address = p_address, secret = p_secret, seen_at = clock_timestamp() WHERE s.id = p_id;
    IF NOT FOUND THEN
        INSERT INTO tiffin.servers AS s (id, address, secret, started_at, seen_at)
        VALUES (p_id, p_address, p_secret, clock_timestamp(), clock_timestamp())
        ON CONFLICT ON CONSTRAINT servers_pkey DO UPDATE SET seen_at = excluded.seen_at;
        -- A row that somebody else has locked is left to them: no server waits.
        DELETE FROM tiffin.servers AS s WHERE p_joins AND s.id IN (
            SELECT o.id FROM tiffin.servers AS o
            WHERE o.id <> p_id AND (o.address = p_address OR o.seen_at < clock_timestamp() - interval '60 seconds')
            FOR UPDATE SKIP LOCKED);
        INSERT INTO tiffin.leases AS l (partition)
        SELECT n FROM tiffin.partition_count AS c, generate_series(0, c.count - 1) AS n ORDER BY n
        ON CONFLICT ON CONSTRAINT leases_pkey DO NOTHING;
    END IF;
    -- A clock that was set back may leave times of the future: those say as little as times long ago.
    RETURN QUERY WITH leases AS MATERIALIZED (SELECT l.server, l.partition, l.term FROM tiffin.leases AS l),
    digest AS MATERIALIZED (
        SELECT sum(hashtextextended(l.partition || coalesce(l.server, ''), l.term)::numeric)::text AS state
        FROM leases AS l)
    SELECT s.id, s.address, s.secret, abs(extract(epoch FROM clock_timestamp() - s.seen_at) * 1000)::bigint,
        d.state, NULL::smallint, NULL::bigint
    FROM tiffin.servers AS s CROSS JOIN digest AS d WHERE isfinite(s.seen_at)
    UNION ALL SELECT l.server, NULL, NULL, NULL, NULL, l.partition, l.term
    FROM leases AS l WHERE (SELECT d.state FROM digest AS d) IS DISTINCT FROM p_known;
END
$$;

-- Gives leases that have these terms to these servers, and returns all of the leases as they are then.
CREATE OR REPLACE FUNCTION tiffin.change_leases(p_partitions smallint[], p_terms bigint[], p_servers text[])
RETURNS TABLE (partition smallint, server text, term bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- In one order, so that two servers never wait for each other.
    PERFORM FROM tiffin.leases AS l WHERE l.partition = ANY (p_partitions) ORDER BY l.partition FOR UPDATE;
    UPDATE tiffin.leases AS l SET server = c.server, term = l.term + 1
    FROM unnest(p_partitions, p_terms, p_servers) AS c (partition, term, server)
    WHERE l.partition = c.partition AND l.term = c.term;
    RETURN QUERY SELECT l.partition, l.server, l.term FROM tiffin.leases AS l
    WHERE l.partition = ANY (p_partitions) ORDER BY l.partition;
END
$$;

-- Removes a server that ends, and frees its leases.
CREATE OR REPLACE FUNCTION tiffin.leave_fleet(p_id text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM tiffin.leases AS l WHERE l.server = p_id ORDER BY l.partition FOR UPDATE;
    UPDATE tiffin.leases AS l SET server = NULL, term = l.term + 1 WHERE l.server = p_id;
    DELETE FROM tiffin.servers AS s WHERE s.id = p_id;
END
$$;
