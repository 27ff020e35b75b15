import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { electionOf } from '../election.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { runWithLease } from '../kube/lease/lease.ts';
import { createLeaseClient } from '../kube/lease/lease-client.ts';
import { together } from '../kube/reconcile/together.ts';
import { claimsOf } from '../kube/rights.ts';
import { countKubeRequests } from '../kube-metrics.ts';
import { createPerform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import { createLoop } from './loop.ts';
import { definition, leaseName, lifecycleRights, placesOf } from './rights.ts';
import type { LifecycleSettings } from './settings.ts';
import { createWebhook } from './stages/protection/create-webhook.ts';

type Context = PartContext<typeof metricTable>;

/** Runs lifecycle until the signal aborts; one replica installs and recovers, all replicas serve the webhook. */
export async function startLifecycle(
  settings: LifecycleSettings,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, metrics, health } = context;
  const { kubeconfig, leaseDurationMs, namespace } = settings;
  const access = kubeconfig === undefined ? await inCluster() : await loadKubeconfig(kubeconfig);
  const onRequest = countKubeRequests(metrics);
  const identify = { clock, random, userAgent: 'multinic-lifecycle', onRequest };
  await using client = createKubeClient(access, identify);
  await using leaseClient = createLeaseClient(access, { ...identify, leaseDurationMs });
  const perform = createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'effect'));
  const webhook = createWebhook({ client, settings, context, perform });
  const kubernetesMinor = await minorVersion(client, signal);
  const loop = createLoop({ client, settings, context, perform, webhook, kubernetesMinor });

  const { registry } = metrics;
  const { about } = context;
  await using app = await createHttpServer({
    title: 'MultiNIC lifecycle',
    clock,
    log,
    health,
    registry,
    about,
  });
  health.ready('watches', loop.notReady);
  const table = lifecycleRights(namespace);
  const selfCheck = createSelfCheck({
    client,
    context,
    component: 'multinic-lifecycle',
    table,
    claims: claimsOf(table.rights, placesOf(settings)),
    definition,
  });
  const { url } = await listen(app, settings.listen, signal);
  log.info({ url, server: access.server, namespace }, 'lifecycle started');

  const election = electionOf({
    lease: { namespace, name: leaseName },
    leaseDurationMs,
    client: aroundWrites(leaseClient, (write) => perform('lifecycle.lease.write', write)),
    name: context.processName ?? 'multinic-lifecycle',
    context,
  });
  await together(signal, clock, {
    lifecycle: async (both) => runWithLease(election, both, loop.run),
    webhook: (both) => webhook.serve(both),
    ...(selfCheck && { 'self-check': selfCheck }),
  });
}

/** Returns the minor version of Kubernetes 1.x from gitVersion: some distributions write `28+` as minor. */
async function minorVersion(client: KubeClient, signal: AbortSignal): Promise<number> {
  const { gitVersion } = await client.version({ signal });
  return Number(/^v1\.(\d+)/.exec(gitVersion)?.[1] ?? 0);
}
