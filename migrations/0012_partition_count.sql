-- How many partitions a log has. Until now this was the number of rows in tiffin.log_head, so that a row too many sent every
-- server to other partitions.
CREATE TABLE tiffin.partition_count (
    count smallint NOT NULL CHECK (count > 0)
);
CREATE UNIQUE INDEX partition_count_once ON tiffin.partition_count ((true));
INSERT INTO tiffin.partition_count SELECT count(*) FROM tiffin.log_head HAVING count(*) > 0;
GRANT SELECT ON tiffin.partition_count TO tiffin_server;
