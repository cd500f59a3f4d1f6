-- The catalogue for SQL: every item that is shown, with its outlet. A view, because what it shows is in outlet_home
-- already; the server searches in memory.

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

GRANT SELECT ON tiffin.catalogue TO tiffin_server;
