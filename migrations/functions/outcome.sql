-- What became of a batch whose writer lost its connection: the positions it was given with the chain before and after
-- it, or nothing. Waits for an append that is still under way.
--
-- Where the answer is nothing, a new epoch begins, so that it stays true: the batch may still be on its way through a
-- connection that only the writer takes for dead. The epoch is newer than any that the writer has sent the batch in: a
-- log that lost its newest batches may have lost epochs, too.
--
-- Of a partition that was moved, the database knows that it goes to (TF002).
CREATE OR REPLACE FUNCTION tiffin.outcome(
    p_partition smallint, p_seen bigint, p_epoch bigint, p_content_digest bytea,
    OUT first_position bigint, OUT last_position bigint, OUT epoch bigint, OUT previous_digest bytea,
    OUT chain_digest bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    destination text;
BEGIN
    SELECT h.epoch, h.moved_to INTO STRICT epoch, destination FROM tiffin.log_head AS h
    WHERE h.partition = p_partition FOR UPDATE;
    IF destination IS NOT NULL THEN
        RAISE EXCEPTION 'partition % was moved to database %', p_partition, destination USING ERRCODE = 'TF002';
    END IF;
    SELECT b.first_position, b.last_position, b.chain_digest
    INTO outcome.first_position, outcome.last_position, outcome.chain_digest FROM tiffin.batches AS b
    WHERE b.partition = p_partition AND b.first_position > p_seen
        AND coalesce(b.submitted_digest, b.content_digest) = p_content_digest;
    IF first_position IS NULL THEN
        epoch := greatest(epoch, p_epoch) + 1;
        UPDATE tiffin.log_head AS h SET epoch = outcome.epoch WHERE h.partition = p_partition;
    ELSE
        -- As tiffin.chain_at says: a function of its own would be planned each time.
        previous_digest := CASE first_position WHEN 1 THEN decode(repeat('00', 32), 'hex') ELSE (
            SELECT CASE WHEN b.last_position = outcome.first_position - 1 THEN b.chain_digest END FROM (
                SELECT batches.last_position, batches.chain_digest FROM tiffin.batches
                WHERE partition = p_partition AND batches.first_position < outcome.first_position
                ORDER BY batches.first_position DESC LIMIT 1) AS b) END;
    END IF;
END
$$;
