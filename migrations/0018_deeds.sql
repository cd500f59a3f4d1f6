-- From here on, what is done to these tables is recorded in the log as well, in the same transaction. What they hold
-- already is recorded when this is applied.
COMMENT ON TABLE tiffin.customer_keys IS
    'Keys for AES-256-SIV. A customer without one was forgotten, and never gets another. The log has it, too.';
COMMENT ON TABLE tiffin.users IS
    'Users. A removed one keeps its row, without what it logged in with, so that servers learn of it. The log has each change.';
COMMENT ON TABLE tiffin.relays IS
    'Relays, with what each signs with, which only the owner of the schema can read. The log has each of them.';
