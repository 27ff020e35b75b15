import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../src/kube/access/access.ts';
import type { Clock } from '../../src/time/clock.ts';
import type { ChildSpec } from '../parts/supervisor.ts';
import { answers } from '../parts/waiting.ts';

/** Files and environment of the stand-in of the legacy Viola. */
export interface LegacyViola {
  readonly env: Readonly<Record<string, string>>;
}

interface Clusters {
  /** Where the files are written. */
  readonly directory: string;
  /** The cluster that nodes of an unknown provider go to. */
  readonly own: ClusterAccess;
  readonly targets: Readonly<Record<string, ClusterAccess>>;
}

/** Writes the routing file of a legacy Viola with these business clusters by provider id. */
export async function installLegacyViola({
  directory,
  own,
  targets,
}: Clusters): Promise<LegacyViola> {
  const local = await targetOf(own, join(directory, 'legacy-own.crt'));
  const routed = await Promise.all(
    Object.entries(targets).map(async ([providerId, access]) => {
      const path = join(directory, `legacy-${providerId}.crt`);
      return { providerId, ...(await targetOf(access, path)) };
    }),
  );
  const routing = join(directory, 'legacy-routing.yaml');
  await writeFile(routing, JSON.stringify({ targets: routed }), { mode: 0o600 });
  return {
    env: {
      ROUTING_CONFIG: routing,
      KUBECTL_PATH: join(import.meta.dirname, 'kubectl.ts'),
      KUBE_API_SERVER: local.kubeApiServer,
      KUBE_CA_PATH: local.kubeCaPath,
      KUBE_TOKEN: local.kubeToken,
    },
  };
}

async function targetOf({ server, ca = '', token }: ClusterAccess, kubeCaPath: string) {
  await writeFile(kubeCaPath, ca);
  return { kubeApiServer: server, kubeCaPath, kubeToken: (await token?.()) ?? '' };
}

/** The stand-in as a part that takes the place of Viola. */
export function legacyViolaPart({
  env,
  port,
  clock,
}: LegacyViola & { readonly port: number; readonly clock: Clock }): ChildSpec {
  const address = `127.0.0.1:${port}`;
  return {
    name: 'viola',
    command: [process.execPath, join(import.meta.dirname, 'viola.ts')],
    env: { ...env, LISTEN_ADDR: address },
    ready: (signal) => answers(`http://${address}/healthz`, { clock, signal }),
  };
}
