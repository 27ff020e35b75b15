import type { metricTable } from '../api/metrics.ts';
import type { HttpServer } from '../http/app.ts';
import { claimsOf } from '../kube/rights.ts';
import type { PartContext } from '../process/part.ts';
import type { Values } from '../process/settings.ts';
import { type PartBase, runPart } from '../runtime/part.ts';
import { createHealthDetails, describeHealth } from './health.ts';
import { controllerRights, definition, leaseName, placesOf } from './rights.ts';
import type { controllerSettings } from './settings.ts';
import { wireController } from './wiring.ts';

/** Runs the controller until the signal aborts; only the lease holder reconciles, all replicas serve HTTP. */
export async function startController(
  values: Values<typeof controllerSettings>,
  context: PartContext<typeof metricTable>,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, listen, leaseDurationMs: durationMs, namespace } = values;
  const table = controllerRights(namespace);
  const needed = table.rights.filter(({ optional = false }) => !optional);
  const part = {
    name: 'controller',
    component: 'multinic-controller',
    title: 'MultiNIC controller',
    kubeconfig,
    listen,
    rights: { table, claims: claimsOf(needed, placesOf(values)) },
    definition,
    election: {
      part: 'controller',
      namespace,
      name: leaseName,
      durationMs,
      needsDefinition: true,
    },
    facts: { namespace },
  } as const;
  const wire = (base: PartBase) => {
    const { controllers, lead, health } = wireController({ ...base, values });
    const details = createHealthDetails(health);
    return {
      serve: (app: HttpServer) => describeHealth(app, details),
      readiness: { watches: controllers.notReady },
      lead,
    };
  };
  await runPart({ ...part, wire }, context, signal);
}
