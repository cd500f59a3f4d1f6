-- How the partition of a stream follows from its name: by the first bytes of the SHA-256 of the id, as in every log until
-- now, or by ranges of the slots of Redis Cluster, as in new ones. A log keeps what it began with.
ALTER TABLE tiffin.partition_count
    ADD COLUMN placement text NOT NULL DEFAULT 'sha256' CHECK (placement IN ('sha256', 'slots'));
