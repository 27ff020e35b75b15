import type { Call } from '../../requests/caller.ts';
import { createFakeCaller, type FakeCaller } from '../../requests/fake-caller.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** Fake service for tests, with a token that never expires. */
export interface FakeService {
  readonly client: ServiceClient;
  readonly caller: FakeCaller;
}

/** Creates a fake Neutron or Nova whose answers come from `respond`. */
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
