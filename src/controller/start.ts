import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { electionOf } from '../election.ts';
import { createHttpServer, listen } from '../http/server.ts';
import type { ClusterAccess } from '../kube/access/access.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { runWithLease } from '../kube/lease/lease.ts';
import { createLeaseClient } from '../kube/lease/lease-client.ts';
import { together } from '../kube/reconcile/together.ts';
import { claimsOf } from '../kube/rights.ts';
import { countKubeRequests } from '../kube-metrics.ts';
import { createPerform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import type { Values } from '../process/settings.ts';
import { leadWithDefinition } from '../self-check/lead-with-definition.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import { createHealthDetails, describeHealth } from './health.ts';
import { createLoop } from './loop.ts';
import { controllerRights, definition, leaseName, placesOf } from './rights.ts';
import type { controllerSettings } from './settings.ts';

type ControllerValues = Values<typeof controllerSettings>;

/** Runs the controller until the signal aborts; only the lease holder reconciles, all replicas serve HTTP. */
export async function startController(
  values: ControllerValues,
  context: PartContext<typeof metricTable>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, metrics, health } = context;
  const access = await accessOf(values);
  const { leaseDurationMs } = values;
  const onKubeRequest = countKubeRequests(metrics);
  const identify = { clock, random, userAgent: 'multinic-controller', onRequest: onKubeRequest };
  await using client = createKubeClient(access, identify);
  await using leaseClient = createLeaseClient(access, { ...identify, leaseDurationMs });
  const perform = createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'effect'));
  const loop = createLoop({ client, values, context, perform });

  const { registry } = metrics;
  const app = await createHttpServer({
    title: 'MultiNIC controller',
    clock,
    log,
    health,
    registry,
    about: context.about,
  });
  describeHealth(app, createHealthDetails({ clock, ...loop }));
  health.ready('watches', loop.notReady);
  const table = controllerRights(values.namespace);
  const selfCheck = createSelfCheck({
    client,
    context,
    component: 'multinic-controller',
    table,
    claims: claimsOf(
      table.rights.filter(({ optional = false }) => !optional),
      placesOf(values),
    ),
    definition,
  });
  const { url } = await listen(app, values.listen, signal);
  log.info({ url, server: access.server, namespace: values.namespace }, 'controller started');

  const election = electionOf({
    lease: { namespace: values.namespace, name: leaseName },
    leaseDurationMs,
    client: aroundWrites(leaseClient, (write) => perform('controller.lease.write', write)),
    name: context.processName ?? 'controller',
    context,
  });
  try {
    await together(signal, clock, {
      controller: async (both) =>
        leadWithDefinition({ client, definition, clock, random, log }, both, async (end) =>
          runWithLease(election, end, loop.run),
        ),
      ...(selfCheck && { 'self-check': selfCheck }),
    });
  } finally {
    await app.close();
  }
}

function accessOf({ kubeconfig }: ControllerValues): Promise<ClusterAccess> {
  return kubeconfig === undefined ? inCluster() : loadKubeconfig(kubeconfig);
}
