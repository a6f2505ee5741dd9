// A process that sends few calls while another sends far too many.

import { setPriority } from 'node:os';
import { Callers, type CallLoad } from './overload-load.ts';

/** Above whatever else the machine does, where that is allowed. */
const PRIORITY = -10;

process.once('message', async (load: CallLoad) => {
  try {
    setPriority(PRIORITY);
  } catch {}
  process.send?.(await new Callers(load).run());
  process.disconnect?.();
});
