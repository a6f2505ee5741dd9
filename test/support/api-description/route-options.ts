import { BodyAdmission } from '../../../src/http/limits/body-admission.ts';
import { InFlight } from '../../../src/http/limits/in-flight.ts';
import { UnreadResponses } from '../../../src/http/limits/response-backpressure.ts';
import { Prefetcher } from '../../../src/http/prefetch.ts';
import type { addRoutes } from '../../../src/http/routes.ts';
import type { Context } from '../../../src/operations/context.ts';

/** Returns options of routes that limit no caller and are always ready. */
export function unlimitedRoutes(context: Context): Parameters<typeof addRoutes>[1] {
  return {
    context,
    limit: null,
    running: new InFlight(),
    bodies: new BodyAdmission(),
    unread: new UnreadResponses(),
    prefetcher: new Prefetcher(),
    publicLimit: null,
    isReady: async () => {},
  };
}
