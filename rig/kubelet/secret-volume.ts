import type { KubeClient } from '../../src/kube/client/client.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import type { ObjectRef } from '../../src/kube/object.ts';
import { type Clock, passed } from '../../src/time/clock.ts';
import { AtomicFolder } from './atomic-folder.ts';

export interface SecretVolume {
  readonly client: Pick<KubeClient, 'find'>;
  readonly secret: ObjectRef;
  /** Where the Pod has it mounted. */
  readonly path: string;
  readonly clock: Clock;
}

/** A kubelet takes a minute or two; tests have no time. */
const lookMs = 100;

/**
 * Keeps a folder as a kubelet keeps the volume of a Secret until the signal aborts: it is there when the Secret is, changes as
 * one with it, and stays as it is while the Secret is gone. Calls `mounted` when it is there.
 */
export async function followSecret(
  { client, secret, path, clock }: SecretVolume,
  mounted: () => void,
  signal: AbortSignal,
): Promise<void> {
  const folder = new AtomicFolder(path);
  let version: string | undefined;
  while (await passed(clock, lookMs, signal)) {
    const found = await client.find(secrets, secret, { signal }).catch(() => undefined);
    if (!found || found.metadata.resourceVersion === version) continue;
    const files = Object.entries(found.data ?? {}).map(
      ([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const,
    );
    await folder.replace(Object.fromEntries(files));
    version = found.metadata.resourceVersion;
    mounted();
  }
}
