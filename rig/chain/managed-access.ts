import { join } from 'node:path';
import { accessSecrets } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Clock } from '../../src/time/clock.ts';
import { followSecret } from '../kubelet/secret-volume.ts';
import { home } from './identities.ts';

/** What the Pod of Viola has mounted of the Secrets that the operator keeps. */
export interface MountedAccess extends AsyncDisposable {
  /** Folder of token files. */
  readonly tokens: string;
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
  /** Resolves when both Secrets are there, and a Pod could start. */
  readonly mounted: Promise<void>;
}

/** Mounts them as a kubelet does, from when they are there until it is disposed of. */
export function mountAccess(client: KubeClient, directory: string, clock: Clock): MountedAccess {
  const stop = new AbortController();
  const follow = (name: string) => {
    const path = join(directory, name);
    const mounted = Promise.withResolvers<void>();
    const secret = { namespace: home, name };
    const volume = { client, secret, path, clock };
    const ended = followSecret(volume, mounted.resolve, stop.signal);
    return { path, ended, mounted: mounted.promise };
  };
  const tokens = follow(accessSecrets.grants);
  const tls = follow(accessSecrets.certificate);
  return {
    tokens: tokens.path,
    certificate: join(tls.path, 'tls.crt'),
    key: join(tls.path, 'tls.key'),
    authorities: join(tls.path, 'ca.crt'),
    mounted: Promise.all([tokens.mounted, tls.mounted]).then(() => undefined),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('unmounted'));
      await Promise.all([tokens.ended, tls.ended]);
    },
  };
}
