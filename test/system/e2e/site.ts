import type { Site } from '../../chain/crash/site.ts';
import { applyConfig, generous } from './acts.ts';
import { namespace } from './ground.ts';
import { agentHasDied, letAgentDieAt } from './mortal-image.ts';
import { placesOf, requestsOf } from './observed.ts';
import { plantForeignState } from './planted.ts';
import { PrimaryMonitor } from './primary-monitor.ts';
import { openProcesses } from './processes.ts';

/** A site of real parts: OpenStack, two clusters, and a node that is a machine with state of others. */
export async function openRealParts(say: (line: string) => void): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openProcesses(say));
  const { parts, tenant, data, server, node, hypervisor, management } = world;
  await plantForeignState(node);
  const monitor = stack.use(new PrimaryMonitor(node));
  await monitor.started;
  const port = await tenant.createPort({ networkId: data.networkId });
  const places = placesOf(world);
  const kept = stack.move();
  return {
    parts,
    agent: {
      dieAt: (moment) => letAgentDieAt(node, String(moment)),
      hasDied: () => agentHasDied(node),
    },
    places: {
      ...places,
      host: async () => ({ state: await places.host(), disturbed: monitor.events }),
    },
    tenant,
    hypervisor,
    serverId: server.id,
    port,
    prepare: async () => undefined,
    patience: generous,
    applyConfig: () => applyConfig(world, [server.id], { settings: { portBaseline: 'All' } }),
    async deleteConfig() {
      const wait = ['--timeout=120s', '--ignore-not-found'];
      await management.kubectl(['delete', 'osc', 'e2e', '-n', namespace, ...wait]);
    },
    audit: () => requestsOf(world),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
