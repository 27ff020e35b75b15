import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import type { ClusterAccess } from '../access/access.ts';
import { KubeError } from '../errors.ts';
import {
  disposeAfterTest,
  type Script,
  type ScriptedServer,
  startScriptedServer,
} from '../testing/scripted-server.ts';
import type { KubeClient } from './client.ts';
import { createKubeClient, type KubeClientOptions } from './http-client.ts';

/** A ConfigMap as the server returns it, with its reference. */
export const one = {
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: 'one', resourceVersion: '5' },
};
export const ref = { namespace: 'ns', name: 'one' };

interface Bench {
  readonly client: KubeClient;
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
}

/** Creates a client and a scripted server. */
export async function bench(
  script: Script,
  {
    access = {},
    ...options
  }: Partial<KubeClientOptions> & { access?: Partial<ClusterAccess> } = {},
): Promise<Bench> {
  const clock = createFakeClock();
  const server = await startScriptedServer(script);
  const client = createKubeClient(
    { server: server.url, ...access },
    { clock, random: () => 0.5, ...options },
  );
  disposeAfterTest(client, server);
  return { client, server, clock };
}

/** Returns the call's KubeError; throws if the call succeeds or fails otherwise. */
export async function errorOf(call: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubeError) return error;
  throw new Error('expected a KubeError', { cause: error });
}
