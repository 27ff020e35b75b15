import type { Call } from '../../requests/caller.ts';
import { createFakeCaller, type FakeCaller } from '../../requests/fake-caller.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** A service that a test answers for, reached with a token that never expires. */
export interface FakeService {
  readonly client: ServiceClient;
  readonly caller: FakeCaller;
}

/** Makes a Neutron or Nova of which `respond` is everything. */
export function createFakeService(
  service: 'neutron' | 'nova',
  respond: (call: Call, index: number) => HttpAnswer | Promise<HttpAnswer>,
): FakeService {
  const caller = createFakeCaller(respond);
  const client = createServiceClient({
    service,
    caller,
    keystone: {
      session: async () => ({ token: 't', projectId: 'p', accounts: [], catalog: [] }),
      drop: () => undefined,
      projectId: 'p',
      accounts: [],
    },
    clock: createFakeClock(),
    base: () => `http://${service}`,
  });
  return { client, caller };
}
