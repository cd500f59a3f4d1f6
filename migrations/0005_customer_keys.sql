-- What customers' texts are sealed with. Each customer has a key in each partition; where it is destroyed, what was
-- sealed with it stays in the log as it is, and can be read by nobody.

CREATE TABLE tiffin.customer_keys (
    partition    smallint    NOT NULL,
    customer     text        COLLATE "C" NOT NULL,
    key          bytea,
    created_at   timestamptz NOT NULL,
    forgotten_at timestamptz,
    PRIMARY KEY (partition, customer),
    CHECK ((key IS NULL) = (forgotten_at IS NOT NULL)),
    CHECK (octet_length(key) = 64)
);
-- Statistics would have keys among their samples, for as long as they please.
ALTER TABLE tiffin.customer_keys ALTER COLUMN key SET STATISTICS 0;
COMMENT ON TABLE tiffin.customer_keys IS
    'Keys for AES-256-SIV. A customer without one was forgotten, and never gets another.';

-- The customer's key, or none for one who was forgotten. Where there is no row, the candidate becomes the key, of
-- several at once that of the first.
CREATE FUNCTION tiffin.customer_key(p_partition smallint, p_customer text, p_candidate bytea, OUT key bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT k.key INTO key FROM tiffin.customer_keys AS k WHERE k.partition = p_partition AND k.customer = p_customer;
    IF NOT FOUND THEN
        INSERT INTO tiffin.customer_keys VALUES (p_partition, p_customer, p_candidate, now())
        ON CONFLICT DO NOTHING;
        SELECT k.key INTO STRICT key FROM tiffin.customer_keys AS k
        WHERE k.partition = p_partition AND k.customer = p_customer;
    END IF;
END
$$;

-- The server makes keys and reads them. To destroy one takes the owner of the table.
GRANT SELECT ON tiffin.customer_keys TO tiffin_server;
REVOKE ALL ON FUNCTION tiffin.customer_key(smallint, text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tiffin.customer_key(smallint, text, bytea) TO tiffin_server;
