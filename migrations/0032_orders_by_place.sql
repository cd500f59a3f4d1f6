-- Pages of orders that are no longer in the memory of a server are found by these, and the open ones at its start.

CREATE INDEX order_rows_by_position ON tiffin.order_rows (partition, generation, position);
CREATE INDEX order_rows_of_outlet ON tiffin.order_rows (partition, generation, outlet, position, placed_at);
CREATE INDEX order_rows_of_customer ON tiffin.order_rows (partition, generation, customer, position, placed_at)
    WHERE customer <> '';
CREATE INDEX order_rows_open ON tiffin.order_rows (partition, generation, position) WHERE snapshot <> '';
