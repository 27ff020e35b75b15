import type { Effect } from '../../api/effects.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { fieldManagers } from '../../api/names.ts';
import { isSameJson } from '../../api/same-json.ts';
import { isOlder } from '../../kube/cache/resource-version.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isConflict, KubeError } from '../../kube/errors.ts';
import type { Outcome as Requeue } from '../../kube/reconcile/controller.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { multiNicOperators, type OperatorObject, statusOf } from '../model/multinicoperator.ts';
import type { Outcomes } from '../model/outcome.ts';
import type { Observed } from '../model/stage.ts';
import type { Observation } from '../objects/observe.ts';
import { refusedStatus } from './refused.ts';
import { statusAfter } from './status.ts';

export interface StatusWriter {
  write(observed: Observed, outcomes: Outcomes, signal: AbortSignal): Promise<void>;
  refuse(
    observation: Extract<Observation, { what: 'refused' }>,
    signal: AbortSignal,
  ): Promise<Requeue>;
}

export interface StatusWriterDeps {
  readonly client: Pick<KubeClient, 'applyStatus' | 'patchStatus'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly webhookAnswers: () => boolean;
}

/** Writes the status, only if different from the stored status. */
export function createStatusWriter(deps: StatusWriterDeps): StatusWriter {
  const { client, perform, clock, webhookAnswers } = deps;

  /** Last status stored by the API server, by uid: the watch may lag. */
  const stored = new Map<
    string,
    { readonly version: string; readonly status: MultiNicOperatorStatus }
  >();

  function latest(operator: OperatorObject): MultiNicOperatorStatus {
    const { uid = '', resourceVersion = '' } = operator.metadata;
    const own = stored.get(uid);
    return own && isOlder(resourceVersion, own.version) ? own.status : statusOf(operator);
  }

  /** An apply with a field undeclared in a legacy CRD is refused; a patch stores the remaining fields. */
  async function send(
    operator: OperatorObject,
    status: MultiNicOperatorStatus,
    signal: AbortSignal,
  ): Promise<OperatorObject> {
    const { namespace = '', name, uid } = operator.metadata;
    const own = uid === undefined ? {} : { uid };
    const options = { fieldManager: fieldManagers.lifecycle, signal };
    try {
      const metadata = { namespace, name, ...own };
      const forced = { ...options, force: true };
      return await client.applyStatus(multiNicOperators, { metadata, status }, forced);
    } catch (error) {
      if (!isUndeclaredField(error)) throw error;
      const patch = { metadata: own, status };
      return client.patchStatus(multiNicOperators, { namespace, name }, patch, options);
    }
  }

  async function put(
    operator: OperatorObject,
    before: MultiNicOperatorStatus,
    status: MultiNicOperatorStatus,
    signal: AbortSignal,
  ): Promise<void> {
    if (isSameJson(before, status)) return;
    const written = await perform('lifecycle.status.write', () =>
      send(operator, withoutCounts(status), signal),
    );
    const { uid } = operator.metadata;
    const { resourceVersion: version = '' } = written.metadata;
    stored.set(uid ?? '', { version, status: statusOf(written) });
    if (status.protectionStatus?.preventedMutations === 0) await countFromZero(written, signal);
  }

  /** By patch: an applied field would be removed by the next apply without it. */
  async function countFromZero(written: OperatorObject, signal: AbortSignal): Promise<void> {
    if (statusOf(written).protectionStatus?.preventedMutations !== undefined) return;
    const { namespace = '', name, resourceVersion } = written.metadata;
    const status = { protectionStatus: { preventedMutations: 0 } };
    try {
      await perform('lifecycle.status.write', () =>
        client.patchStatus(
          multiNicOperators,
          { namespace, name },
          { metadata: { resourceVersion }, status },
          { fieldManager: fieldManagers.lifecycle, signal },
        ),
      );
    } catch (error) {
      // The next reconcile finds the count missing, or written by another replica.
      if (!isConflict(error)) throw error;
    }
  }

  return {
    async write(observed, outcomes, signal) {
      const { operator } = observed;
      const before = latest(operator);
      const input = {
        operator,
        before,
        accepted: observed.accepted,
        outcomes,
        webhookAnswers: webhookAnswers(),
        now: clock.now(),
      };
      await put(operator, before, statusAfter(input), signal);
    },
    async refuse({ operator, problem }, signal) {
      const before = latest(operator);
      await put(operator, before, refusedStatus(operator, before, problem, clock.now()), signal);
      return {};
    },
  };
}

/** Drops the refusal counts, which the counting replicas own. */
function withoutCounts(status: MultiNicOperatorStatus): MultiNicOperatorStatus {
  const { active } = status.protectionStatus ?? {};
  return active === undefined ? status : { ...status, protectionStatus: { active } };
}

function isUndeclaredField(error: unknown): boolean {
  return error instanceof KubeError && error.message.includes('field not declared in schema');
}
