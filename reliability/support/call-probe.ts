// Measures latency with a small load while another process sends an excessive one.

import { setPriority } from 'node:os';
import { Callers, type CallLoad } from './call-load.ts';

/** Higher priority than other processes, if permitted. */
const PRIORITY = -10;

process.once('message', async (load: CallLoad) => {
  try {
    setPriority(PRIORITY);
  } catch {}
  process.send?.(await new Callers(load).run());
  process.disconnect?.();
});
