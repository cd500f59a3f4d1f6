-- The customer's key, or none for one who was forgotten. Where there is no row, the candidate becomes the key, of
-- several at once that of the first.
--
-- A key is made only where the partition lives (TF002): whoever moves it waits for those who make keys.
CREATE OR REPLACE FUNCTION tiffin.customer_key(p_partition smallint, p_customer text, p_candidate bytea, OUT key bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT k.key INTO key FROM tiffin.customer_keys AS k WHERE k.partition = p_partition AND k.customer = p_customer;
    IF NOT FOUND THEN
        PERFORM FROM tiffin.log_head AS h WHERE h.partition = p_partition AND h.moved_to IS NULL FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'partition % was moved to another database', p_partition USING ERRCODE = 'TF002';
        END IF;
        INSERT INTO tiffin.customer_keys VALUES (p_partition, p_customer, p_candidate, now())
        ON CONFLICT DO NOTHING;
        SELECT k.key INTO STRICT key FROM tiffin.customer_keys AS k
        WHERE k.partition = p_partition AND k.customer = p_customer;
    END IF;
END
$$;
