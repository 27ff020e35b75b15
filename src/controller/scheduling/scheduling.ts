import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import type { Values } from '../../process/settings.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { createJobRunner, createJobStore, createPodStore } from '../jobs/job-runner.ts';
import type { Stores } from '../objects/stores.ts';
import { type controllerSettings, jobTemplateOf, limitOf } from '../settings.ts';
import type { ControllerMetrics } from '../status/report.ts';
import { createAdmission } from './admission.ts';
import { createDispatch } from './dispatch.ts';
import { createEndChanges } from './end-changes.ts';
import { createRefuse } from './refuse.ts';
import { createRollout } from './rollout-budget.ts';

/** Replaced by benchmarks, which measure the cost of the rollout budget. */
export type CreateRollout = typeof createRollout;

interface SchedulingOptions {
  readonly client: KubeClient;
  readonly perform: Perform<Effect>;
  readonly values: Values<typeof controllerSettings>;
  readonly stores: Stores;
  /** Nodes on which the legacy controller runs a Job. */
  readonly occupied: Parameters<typeof createAdmission>[0]['occupied'];
  readonly context: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
    readonly metrics: ControllerMetrics;
  };
  readonly makeRollout?: CreateRollout | undefined;
  /** Enqueues objects that may start a run now. */
  readonly enqueue: (keys: readonly string[]) => void;
}

/** Creates the agent Jobs' runner, and the rules about which Jobs start when: admission and rollout. */
export function createScheduling(options: SchedulingOptions) {
  const { client, perform, values, stores, context, enqueue } = options;
  const { clock, random, log, metrics } = context;
  const { makeRollout = createRollout } = options;
  const [jobs, pods] = [createJobStore(), createPodStore()];
  const runner = createJobRunner({ client, jobs, pods, perform, template: jobTemplateOf(values) });
  const rollout = makeRollout({
    configs: stores.configs,
    nodes: stores.nodes,
    image: values.agentImage,
    domainLabel: values.rolloutDomain,
    hasJob: (name) =>
      jobs.versionOf(keyOf({ namespace: values.agentNamespace, name })) !== undefined,
    openJobs: () => runner.open().map(({ name }) => name),
    clock,
    wake: enqueue,
    onImageProven: () => enqueue(admission.wake()),
  });
  const admission = createAdmission({
    runner,
    nodes: stores.nodes,
    occupied: options.occupied,
    limit: () => limitOf(values.maxInFlight, stores.nodes.size),
    isImageProven: rollout.isImageProven,
  });
  const dispatch = createDispatch({ runner, admission, rollout, metrics, log });
  const endChanges = createEndChanges({ runner, rollout, clock });
  const refuse = createRefuse(runner, random);
  return { jobs, pods, runner, rollout, admission, dispatch, endChanges, refuse };
}
