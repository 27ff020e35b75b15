import { annotations, managedObjects } from '../../../api/names.ts';
import { deployments, disruptionBudgets, secrets, services } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import type { ControllerWanted } from '../../model/accepted.ts';
import { type Desired, desired } from '../../model/desired.ts';
import {
  credentialsRevision,
  revisionAnnotation,
} from '../../model/mariadb/credentials-revision.ts';
import { effectsOf } from '../../model/mariadb/operation-effects.ts';
import type { ControllerReport } from '../../model/reports.ts';
import {
  type Notice,
  type Observed,
  type Removal,
  type StagePlan,
  unchanged,
} from '../../model/stage.ts';
import { type Base, operatorServices, readBase } from './base.ts';
import { legacyPlan } from './legacy.ts';
import { overlay, owned } from './overlay.ts';
import { reportOf } from './report.ts';

/**
 * Plans Deployment, Services and PodDisruptionBudget of the operator: the chart's manifests with changes from the spec.
 */
export function controller(observed: Observed): StagePlan<ControllerReport> {
  const { accepted } = observed;
  const { value: wanted, problems } = accepted.controller;
  const report = reportOf(observed, wanted?.replicas);
  if (!wanted) return unchanged(problems, report);
  const legacy = legacyPlan(observed);
  if (legacy) {
    const { stop, notice, requeueAfterMs } = legacy;
    return { ...unchanged([], report), stop, notices: [notice], requeueAfterMs };
  }
  const read = readBase(observed.base);
  if ('problem' in read) {
    return { ...unchanged([], report), notices: [withoutBase(observed, read.problem)] };
  }
  if (isWaitingForLogin(observed, wanted)) {
    const message = `waits for Secret ${managedObjects.credentials}`;
    return unchanged([], { ...report, message });
  }
  return { ...installed(observed, wanted, read.base), problems: [], notices: [], report };
}

function withoutBase({ namespace }: Observed, problem: string): Notice {
  const fix = `helm upgrade multinic-operator charts/multinic-operator --namespace ${namespace} --reuse-values --set lifecycle.enabled=true`;
  return {
    condition: 'Stalled',
    reason: 'BaseUnusable',
    message: `ConfigMap ${managedObjects.controllerBase} ${problem}, so the operator is neither installed nor updated; create it again: ${fix}`,
  };
}

/** Waits, because a first Pod without its login would be restarted right afterwards. */
function isWaitingForLogin(observed: Observed, { inventory }: ControllerWanted): boolean {
  const { objects, accepted } = observed;
  return (
    inventory === 'built-in' &&
    accepted.credentials.value !== undefined &&
    objects.find(deployments, managedObjects.controller) === undefined &&
    credentialsRevision(objects.find(secrets, managedObjects.credentials)) === undefined
  );
}

function installed(
  observed: Observed,
  wanted: ControllerWanted,
  base: Base,
): { readonly apply: readonly Desired[]; readonly remove: readonly Removal[] } {
  const { operator, namespace, accepted } = observed;
  const databasePort = accepted.database.value?.service.port ?? 3306;
  const podAnnotations = podAnnotationsOf(observed, wanted);
  const options = { operator, namespace, databasePort, podAnnotations };
  const budget = isReplicated(observed, wanted) ? base.budget : undefined;
  const isReplaced = isReplacedForSqlite(observed, wanted);
  const { replicas: held } = effectsOf(observed);
  const replicas = held === undefined ? {} : { replicas: held };
  return {
    apply: [
      ...base.services.map((service) => desired(services, owned(service, options))),
      ...(isReplaced
        ? []
        : [desired(deployments, overlay(base.deployment, { ...wanted, ...replicas }, options))]),
      ...(budget ? [desired(disruptionBudgets, owned(budget, options))] : []),
    ],
    remove: [
      ...leftovers(observed, base, budget !== undefined),
      ...(isReplaced ? removalOf(observed, deployments, managedObjects.controller) : []),
    ],
  };
}

/**
 * True if the Deployment is deleted now and recreated in the next round. If strategy and replicas change to Recreate
 * during a rollout, the Deployment controller treats each sync as scaling and never completes the rollout.
 */
function isReplacedForSqlite({ objects }: Observed, { inventory }: ControllerWanted): boolean {
  const live = objects.find(deployments, managedObjects.controller);
  const containers = live?.spec?.template.spec?.containers ?? [];
  const hadDatabase = containers.some(({ env = [] }) => env.some(({ name }) => name === 'DB_HOST'));
  return inventory === 'sqlite' && hadDatabase && live?.spec?.strategy?.type === 'RollingUpdate';
}

/** An autoscaler may own the replicas: the live Deployment then has the number. */
function isReplicated({ objects }: Observed, { replicas }: ControllerWanted): boolean {
  const live = objects.find(deployments, managedObjects.controller);
  return (replicas ?? live?.spec?.replicas ?? 1) > 1;
}

function leftovers(observed: Observed, base: Base, hasBudget: boolean): Removal[] {
  const named = new Set(base.services.map(({ metadata }) => metadata.name));
  return [
    ...operatorServices
      .filter((name) => !named.has(name))
      .flatMap((name) => removalOf(observed, services, name)),
    ...(hasBudget ? [] : removalOf(observed, disruptionBudgets, managedObjects.controller)),
  ];
}

/** Watches show managed objects only, hence no foreign object is removed. */
function removalOf<T extends KubeObject>(
  { objects, namespace }: Observed,
  resource: Resource<T>,
  name: string,
): Removal[] {
  if (objects.find(resource, name) === undefined) return [];
  return [{ resource, ref: { namespace, name } }];
}

/** An unknown value stays unchanged: a deleted Secret must not restart Pods. */
function podAnnotationsOf(
  { objects, operator }: Observed,
  { inventory }: ControllerWanted,
): Record<string, string> {
  const live = objects.find(deployments, managedObjects.controller);
  const before = live?.spec?.template.metadata?.annotations ?? {};
  const login = credentialsRevision(objects.find(secrets, managedObjects.credentials));
  const isBuiltIn = inventory === 'built-in';
  const all = {
    [revisionAnnotation]: isBuiltIn ? (login ?? before[revisionAnnotation]) : undefined,
    [annotations.restartAt]: operator.metadata.annotations?.[annotations.restartAt],
  };
  const known = Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(known);
}
