-- Points of the log: a position with the chain up to it. Whoever goes on from one is refused where the log has another
-- chain: after a standby was promoted that lacked the newest batches, or a backup was restored.

-- Whether a partition has a point. Behind damage, and where the chain is not known, only the position is compared. A set of
-- one, like that of tiffin.batch_at.
CREATE OR REPLACE FUNCTION tiffin.is_point(p_partition smallint, p_position bigint, p_digest bytea)
RETURNS SETOF boolean LANGUAGE sql STABLE AS $$
    SELECT p_position = 0 OR coalesce(
        (SELECT CASE
            WHEN b.last_position = p_position THEN p_digest IS NULL OR b.chain_digest = p_digest
            WHEN b.last_position BETWEEN p_position AND b.first_position + 9999 THEN p_digest IS NULL
         END FROM (
            SELECT first_position, last_position, chain_digest FROM tiffin.batches
            WHERE partition = p_partition AND first_position <= p_position
            ORDER BY first_position DESC LIMIT 1) AS b),
        -- The batch was removed, if there is one behind it or the head says that there was. A head whose partition was
        -- moved says nothing of what is here.
        EXISTS (
            SELECT FROM tiffin.batches WHERE partition = p_partition AND first_position > p_position
                AND first_position <= 4611686018427387904)
        OR EXISTS (SELECT FROM tiffin.log_head WHERE partition = p_partition AND position >= p_position
            AND moved_to IS NULL))
$$;

-- The same for an expression, where its time does not matter.
CREATE OR REPLACE FUNCTION tiffin.has_point(p_partition smallint, p_position bigint, p_digest bytea)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT * FROM tiffin.is_point(p_partition, p_position, p_digest)
$$;

-- The chain up to a position; NULL where no batch ends there.
CREATE OR REPLACE FUNCTION tiffin.chain_at(p_partition smallint, p_position bigint)
RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN last_position = p_position THEN chain_digest END FROM (
        SELECT last_position, chain_digest FROM tiffin.batches
        WHERE partition = p_partition AND first_position <= p_position
        ORDER BY first_position DESC LIMIT 1) AS b
$$;
