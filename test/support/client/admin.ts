import { UserGroupClient } from '../../../client/src/index.ts';
import type { TestService } from '../service.ts';
import { unlessStarved } from '../starvation.ts';

/**
 * Returns a client whose API token has the permission `admin`. It repeats what a busy machine delays too long, which a client
 * does only for some calls.
 */
export async function adminClient(service: TestService): Promise<UserGroupClient> {
  const { token } = await service.apiToken({ permission: 'admin' });
  const patientFetch: typeof fetch = (...request) =>
    unlessStarved(
      () => fetch(...request),
      ({ status }) => status === 503,
    );
  return new UserGroupClient({ url: service.url, apiToken: token, fetch: patientFetch });
}
