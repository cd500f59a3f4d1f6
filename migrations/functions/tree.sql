-- The Merkle tree over the batches of a partition.

-- The root over the batches of the first nodes of level 1, by what tiffin.tree_nodes has. What is left of a level above
-- its last whole node is one more digest there.
CREATE OR REPLACE FUNCTION tiffin.tree_root(p_partition smallint, p_nodes bigint) RETURNS bytea LANGUAGE plpgsql STABLE AS $$
DECLARE
    nodes bigint := p_nodes;
    at_level smallint := 1;
    digests bytea[];
    root bytea;
BEGIN
    WHILE nodes > 0 LOOP
        SELECT array_agg(digest ORDER BY number) INTO digests FROM tiffin.tree_nodes
        WHERE partition = p_partition AND level = at_level AND number >= nodes - nodes % 256 AND number < nodes;
        IF root IS NOT NULL THEN
            digests := array_append(digests, root);
        END IF;
        IF digests IS NOT NULL THEN
            root := tiffin.merkle_root(digests);
        END IF;
        nodes := nodes / 256;
        at_level := at_level + 1;
    END LOOP;
    RETURN root;
END
$$;

-- Adds nodes to the tree over a partition, up to a number of those of level 1, and returns whether others are left. One
-- at a time: whoever comes second goes on where the first one stopped. Where the nodes contradict their last root, or the
-- last batch that they have, or if that is asked, all of them are made again. It looks at keys only, however small the
-- planner takes the tables to be.
CREATE OR REPLACE FUNCTION tiffin.grow_tree(
    p_partition smallint, p_nodes integer, p_anew boolean, OUT is_behind boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    next_number bigint;
    reached bigint;
    known bytea;
    head bigint;
    leaves bytea[];
    children bytea[];
    last bigint;
    at_level smallint;
    at_number bigint;
BEGIN
    is_behind := false;
    -- The first of the two keys says whose lock it is: ours.
    PERFORM pg_advisory_xact_lock(1953064550, p_partition);
    SELECT position INTO head FROM tiffin.log_head WHERE partition = p_partition AND moved_to IS NULL;
    IF head IS NULL THEN
        RETURN;
    END IF;
    -- No number is so high, but one that is must not overflow.
    SELECT least(number, 4611686018427387904) + 1, last_position, tree_digest INTO next_number, reached, known
    FROM tiffin.tree_nodes
    WHERE partition = p_partition AND level = 1 ORDER BY number DESC LIMIT 1;
    IF p_anew OR next_number IS NOT NULL AND (
        known IS NULL OR known IS DISTINCT FROM tiffin.tree_root(p_partition, next_number)
        OR tiffin.chain_at(p_partition, reached) IS NULL)
    THEN
        DELETE FROM tiffin.tree_nodes WHERE partition = p_partition;
        next_number := NULL;
    END IF;
    IF next_number IS NULL THEN
        next_number := 0;
        reached := 0;
    END IF;
    FOR i IN 1 .. p_nodes LOOP
        -- What no append has left ends the tree: 2^62 is the highest
        -- position that one gives.
        SELECT array_agg(
            sha256('\x00'::bytea || int8send(last_position) || chain_digest) ORDER BY first_position),
            max(last_position)
        INTO leaves, last FROM (
            SELECT first_position, last_position, chain_digest FROM tiffin.batches
            WHERE partition = p_partition AND first_position > reached ORDER BY first_position LIMIT 256) AS b
        WHERE last_position BETWEEN first_position AND least(4611686018427387904, head);
        IF cardinality(leaves) IS DISTINCT FROM 256 THEN
            RETURN;
        END IF;
        INSERT INTO tiffin.tree_nodes VALUES (p_partition, 1, next_number, last, tiffin.merkle_root(leaves), NULL);
        at_level := 1;
        at_number := next_number;
        WHILE at_number % 256 = 255 LOOP
            at_number := at_number / 256;
            SELECT array_agg(digest ORDER BY number) INTO children FROM tiffin.tree_nodes
            WHERE partition = p_partition AND level = at_level AND number BETWEEN at_number * 256 AND at_number * 256 + 255;
            at_level := at_level + 1;
            INSERT INTO tiffin.tree_nodes
            VALUES (p_partition, at_level, at_number, last, tiffin.merkle_root(children), NULL);
        END LOOP;
        UPDATE tiffin.tree_nodes SET tree_digest = tiffin.tree_root(p_partition, next_number + 1)
        WHERE partition = p_partition AND level = 1 AND last_position = last AND number = next_number;
        next_number := next_number + 1;
        reached := last;
    END LOOP;
    is_behind := true;
END
$$;
