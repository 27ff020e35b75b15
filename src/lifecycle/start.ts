import type { metricTable } from '../api/metrics.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { claimsOf } from '../kube/rights.ts';
import type { PartContext } from '../process/part.ts';
import { type PartBase, runPart } from '../runtime/part.ts';
import { definition, leaseName, lifecycleRights, placesOf } from './rights.ts';
import type { LifecycleSettings } from './settings.ts';
import { createWebhook } from './stages/protection/create-webhook.ts';
import { wireLifecycle } from './wiring.ts';

/** Runs lifecycle until the signal aborts; one replica installs and recovers, all replicas serve the webhook. */
export async function startLifecycle(
  settings: LifecycleSettings,
  context: PartContext<typeof metricTable>,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, listen, leaseDurationMs: durationMs, namespace } = settings;
  const table = lifecycleRights(namespace);
  const part = {
    name: 'lifecycle',
    component: 'multinic-lifecycle',
    title: 'MultiNIC lifecycle',
    kubeconfig,
    listen,
    rights: { table, claims: claimsOf(table.rights, placesOf(settings)) },
    definition,
    election: { part: 'lifecycle', namespace, name: leaseName, durationMs },
    facts: { namespace },
  } as const;
  const wire = async (base: PartBase) => {
    const webhook = createWebhook({ ...base, settings });
    const kubernetesMinor = await minorVersion(base.client, signal);
    const { controllers, lead } = wireLifecycle({ ...base, settings, webhook, kubernetesMinor });
    const serve = async (end: AbortSignal): Promise<void> => webhook.serve(end);
    return { readiness: { watches: controllers.notReady }, lead, tasks: { webhook: serve } };
  };
  await runPart({ ...part, wire }, context, signal);
}

/** Returns the minor version of Kubernetes 1.x from gitVersion: some distributions write `28+` as minor. */
async function minorVersion(client: KubeClient, signal: AbortSignal): Promise<number> {
  const { gitVersion } = await client.version({ signal });
  return Number(/^v1\.(\d+)/.exec(gitVersion)?.[1] ?? 0);
}
