import { UserGroupClient } from '../../../client/src/index.ts';
import type { TestService } from '../service.ts';

/** Returns a client whose API token has the permission `admin`. */
export async function adminClient(service: TestService): Promise<UserGroupClient> {
  const { token } = await service.apiToken({ permission: 'admin' });
  return new UserGroupClient({ url: service.url, apiToken: token });
}
