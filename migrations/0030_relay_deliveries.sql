-- Events that a relay could not deliver, and goes on without. Like its place, this lies outside the log.

CREATE TABLE tiffin.relay_deliveries (
    relay        text        COLLATE "C" NOT NULL REFERENCES tiffin.relays ON DELETE CASCADE,
    partition    smallint    NOT NULL,
    position     bigint      NOT NULL CHECK (position > 0),
    stream       text        COLLATE "C" NOT NULL,
    event        text        NOT NULL,
    attempts     integer     NOT NULL CHECK (attempts >= 0),
    refusals     integer     NOT NULL CHECK (refusals BETWEEN 0 AND attempts),
    answer       text,
    held_at      timestamptz NOT NULL DEFAULT now(),
    tried_at     timestamptz,
    next_at      timestamptz,
    set_aside_at timestamptz,
    PRIMARY KEY (relay, partition, position),
    CHECK (attempts = 0 OR (answer IS NOT NULL AND tried_at IS NOT NULL))
);
COMMENT ON TABLE tiffin.relay_deliveries IS
    'Events that a relay holds back, or has set aside. All others up to its place in tiffin.relay_cursors are taken.';
COMMENT ON COLUMN tiffin.relay_deliveries.event IS 'Which event that is, as in tiffin.relay_cursors.';
COMMENT ON COLUMN tiffin.relay_deliveries.attempts IS
    'How often it was posted since it was held back or sent again. With none, it waits for an earlier one of its stream.';
COMMENT ON COLUMN tiffin.relay_deliveries.refusals IS 'How many of these the receiver refused: these count to give up.';
COMMENT ON COLUMN tiffin.relay_deliveries.answer IS 'What failed last.';
COMMENT ON COLUMN tiffin.relay_deliveries.next_at IS 'When it is posted again; NULL for when its turn comes.';
COMMENT ON COLUMN tiffin.relay_deliveries.set_aside_at IS 'When the relay gave up; NULL while it does not.';
GRANT SELECT ON tiffin.relay_deliveries TO tiffin_auditor;
