// A transaction sees at each of its statements what others have committed before, whatever the server is set to: an
// import that has waited for another one of the same token has to see the group that this one has made.
//
// A statement by itself is right under any isolation. Under a stricter one it may be told of a conflict, and is tried
// again.

export const BEGIN = 'begin isolation level read committed';

/** The same for what may take as long as it takes, whatever limits the user of the service is set to. */
export const BEGIN_WITHOUT_LIMITS = `${BEGIN};
  select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
