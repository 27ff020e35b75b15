import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { home } from '../../../rig/chain/identities.ts';
import { openstackConfigs } from '../../../rig/chain/kinds.ts';
import { createAll } from '../../../rig/chain/manifests.ts';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import { accessSecrets, namespaces } from '../../../src/api/names.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { secrets } from '../../../src/kube/core-resources.ts';
import { scaled } from '../../speed.ts';
import { applyConfig } from '../acts.ts';
import { placesOf } from '../waits.ts';
import { openWorld, type Worker } from '../world.ts';
import { MortalAgents } from './mortal-agent.ts';
import { registerWithOldToken } from './old-token.ts';
import type { Site } from './site.ts';
import { openTriggerCaller } from './trigger-caller.ts';

/**
 * A site of embedded API servers, a stand-in of a cloud and a host made of namespaces. With `managedAccess` the operator finds
 * its token and the authority of Viola's certificate gone whenever it was away.
 */
export async function openFakeSite({ managedAccess = false } = {}): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-kills-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const agents = new MortalAgents(directory);
  const asking = await openTriggerCaller(directory);
  const world = stack.use(
    await openWorld(['worker-1'], {
      env: {
        ...mortalEnv,
        LOG_LEVEL: 'debug',
        // Side by side with other worlds on a busy machine, a leader of 2 s would miss a renewal.
        LEASE_DURATION: '8s',
        RABBITMQ_SECRETS: 'true',
        OPENSTACK_NOTIFICATIONS: 'false',
        ...asking.env,
      },
      rabbit: { username: 'r', password: 'p', hosts: ['192.0.2.1:5672'] },
      prepared: async (clusters) => createAll(clusters.management.client, 'operator-rabbitmq'),
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
      if (part === 'operator') await loseBrokerSecret(management.client, name);
    },
    patience: { timeout: scaled(200_000), interval: 50 },
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

/** What a garbage collector does with that of the OpenstackConfig of the life before. */
async function loseBrokerSecret(management: KubeClient, config: string): Promise<void> {
  const ref = { namespace: namespaces.system, name: `rabbitmq-${config}` };
  if (await management.find(secrets, ref)) await management.delete(secrets, ref);
}
