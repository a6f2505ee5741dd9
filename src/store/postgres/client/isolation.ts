// Transactions run at READ COMMITTED whatever the server's default is: an import that waits for another
// import of the same token must see the group that the other one creates.
//
// A single statement is correct at any isolation level; at a stricter one it may fail with a serialization error and
// is retried.

export const BEGIN = 'begin isolation level read committed';

/** The same without timeouts, whatever is set for the database user of the service. */
export const BEGIN_WITHOUT_LIMITS = `${BEGIN};
  select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
