import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { home } from '../../rig/chain/identities.ts';
import { openstackConfigs } from '../../rig/chain/kinds.ts';
import { mortalEnv } from '../../rig/parts/program.ts';
import { accessSecrets, namespaces } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { applyConfig } from '../chain/acts.ts';
import { generous, placesOf } from '../chain/seen.ts';
import { openWorld, type Worker } from '../chain/world.ts';
import { openAsking } from './asking.ts';
import { MortalAgents } from './mortal-agent.ts';
import { registerWithOldToken } from './old-token.ts';
import type { Site } from './site.ts';

/**
 * A site of embedded API servers, a stand-in of a cloud and a host made of namespaces. With `managedAccess` the operator finds
 * its token and the authority of Viola's certificate gone whenever it was away.
 */
export async function openStandIns({ managedAccess = false } = {}): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-kills-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const agents = new MortalAgents(directory);
  const asking = await openAsking(directory);
  const world = stack.use(
    await openWorld(['worker-1'], {
      env: { ...mortalEnv, LOG_LEVEL: 'debug', LEASE_DURATION: '2s', ...asking.env },
      agentCommand: await agents.command(),
      managedAccess,
    }),
  );
  const { parts, tenant, data, management, business } = world;
  const [worker] = world.workers as [Worker];
  const { name, serverId, hypervisor, host } = worker;
  const port = await tenant.createPort({ networkId: data.networkId });
  const kept = stack.move();
  return {
    parts,
    agent: agents.on(host),
    places: placesOf(world, worker),
    tenant,
    hypervisor,
    serverId,
    port,
    async prepare({ id, part }) {
      if (id.startsWith('viola.token.')) await registerWithOldToken(world);
      if (managedAccess && part === 'operator') await loseAccess(management.client);
    },
    patience: { ...generous, interval: 50 },
    applyConfig: () => applyConfig(world, worker, { settings: { portBaseline: 'All' } }),
    askForLook: () => asking.ask({ namespace: namespaces.system, name }),
    async deleteConfig() {
      await management.client.delete(openstackConfigs, { namespace: namespaces.system, name });
    },
    audit: async () => business.server.audit,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The operator has to make all of its Secrets anew: the others are made of these. */
async function loseAccess(management: KubeClient): Promise<void> {
  for (const name of [accessSecrets.authority, accessSecrets.token]) {
    await management.delete(secrets, { namespace: home, name });
  }
}
