-- Read models get generations, so that one can be built beside another and take its place in one transaction.
--
-- Each projection of a partition has one generation that is active, and the one before it, which is kept until the
-- next takes its place. The names that SQL knows become views of the active one.

ALTER TABLE tiffin.projection_checkpoints
    ADD COLUMN generation integer NOT NULL DEFAULT 1,
    ADD COLUMN state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'previous')),
    DROP CONSTRAINT projection_checkpoints_pkey,
    ADD PRIMARY KEY (partition, projection, generation),
    -- Checked at the end of a statement, so that one statement can exchange the two.
    ADD CONSTRAINT one_of_each_state UNIQUE (partition, projection, state) DEFERRABLE;
COMMENT ON COLUMN tiffin.projection_checkpoints.state IS
    'The generation that servers begin with and save to, or the one before it, kept as it was.';

DROP VIEW tiffin.catalogue;

ALTER TABLE tiffin.outlet_home RENAME TO outlet_home_rows;
ALTER TABLE tiffin.outlet_home_rows
    ADD COLUMN generation integer NOT NULL DEFAULT 1,
    DROP CONSTRAINT outlet_home_pkey,
    ADD PRIMARY KEY (partition, generation, outlet);

ALTER TABLE tiffin.cart_counts RENAME TO cart_count_rows;
ALTER TABLE tiffin.cart_count_rows
    ADD COLUMN generation integer NOT NULL DEFAULT 1,
    DROP CONSTRAINT cart_counts_pkey,
    ADD PRIMARY KEY (partition, generation, cart);

ALTER TABLE tiffin.quarantine
    ADD COLUMN generation integer NOT NULL DEFAULT 1,
    DROP CONSTRAINT quarantine_pkey,
    ADD PRIMARY KEY (partition, projection, generation, stream);

CREATE VIEW tiffin.outlet_home AS
SELECT partition, outlet, revision, document, snapshot
FROM tiffin.outlet_home_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'outlet_home' AND state = 'active');
COMMENT ON VIEW tiffin.outlet_home IS 'The outlets, as of the checkpoint of outlet_home.';

CREATE VIEW tiffin.cart_counts AS
SELECT partition, cart, count
FROM tiffin.cart_count_rows
WHERE (partition, generation) IN (
    SELECT partition, generation FROM tiffin.projection_checkpoints
    WHERE projection = 'cart_counts' AND state = 'active');
COMMENT ON VIEW tiffin.cart_counts IS 'The sum of quantities of every cart, as of the checkpoint of cart_counts.';

CREATE VIEW tiffin.catalogue AS
SELECT h.partition,
       h.outlet,
       item ->> 'id'                                AS item,
       section ->> 'id'                             AS section,
       item ->> 'kind'                              AS kind,
       model ->> 'name'                             AS name,
       model ->> 'description'                      AS description,
       (model ->> 'price')::bigint                  AS price,
       model ->> 'currency'                         AS currency,
       model ->> 'cuisine'                          AS cuisine,
       ARRAY(SELECT jsonb_array_elements_text(model -> 'tags')) AS tags,
       model ->> 'imageSmall'                       AS image_small,
       (model ->> 'available')::boolean             AS available,
       (model ->> 'availableFrom')::timestamptz     AS available_from,
       place ->> 'name'                             AS outlet_name,
       place ->> 'city'                             AS city,
       place ->> 'area'                             AS area,
       ARRAY(SELECT jsonb_array_elements_text(place -> 'cuisines')) AS outlet_cuisines,
       (place ->> 'rating')::numeric                AS rating,
       (place ->> 'deliveryMinutes')::integer       AS delivery_minutes,
       place ->> 'status'                           AS outlet_status,
       h.revision
FROM tiffin.outlet_home AS h
     CROSS JOIN LATERAL (SELECT h.document::jsonb AS home, h.document::jsonb -> 'outlet' AS place) AS d
     CROSS JOIN LATERAL jsonb_array_elements(home -> 'sections') AS section
     CROSS JOIN LATERAL jsonb_array_elements(section -> 'items') AS item
     CROSS JOIN LATERAL (SELECT item -> 'model' AS model) AS m
WHERE h.document <> 'null';
COMMENT ON VIEW tiffin.catalogue IS
    'Every item on a menu with what its outlet says of itself, as of the checkpoint of outlet_home.';

GRANT SELECT ON tiffin.outlet_home, tiffin.cart_counts, tiffin.catalogue TO tiffin_server;
