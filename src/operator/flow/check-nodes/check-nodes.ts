import type { CheckNodesRequest } from '../../../api/check-nodes.ts';
import { shortMessage } from '../../../api/condition.ts';
import { counted } from '../../../api/counted.ts';
import type { Effect } from '../../../api/effects.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Outcome } from '../../../kube/reconcile/controller.ts';
import { isOwn } from '../../../plan/ownership.ts';
import { mapBounded } from '../../../process/bounded.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import { violaFailure } from '../../clusters/deliver/viola-problem.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import type { ConfigContext, TermMemory } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { Slot } from '../../model/memory/slot.ts';
import { generationOf, ownerOf, statusOf } from '../../model/openstack-config.ts';
import { type ResolvedConfig, resolveConfig } from '../../model/resolve/resolve.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import { checkNodesOf } from './request.ts';

export interface CheckNodesDeps {
  readonly settings: OperatorSettings;
  readonly management: Pick<ManagementCluster, 'owner'>;
  readonly violas: Pick<Violas, 'of'>;
  readonly writer: Pick<StatusWriter, 'handledCheckNodes'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly log: Logger;
}

/** Milliseconds until the second attempt while Viola does not answer; doubles with each failure. */
const firstRetryMs = 10_000;
/** Each attempt may start a sync: an open request must not shorten the polls of an outage much. */
const longestRetryMs = 120_000;
const requestsAtOnce = 8;

/**
 * Passes a new multinic.io/check-nodes request on to Viola, once, without a sync, in every trigger mode. Returns when to
 * try again while Viola does not answer; undefined: nothing is open.
 */
export async function passOnChecks(
  context: ConfigContext,
  deps: CheckNodesDeps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const object = latestObject(context);
  const request = checkNodesOf(object);
  if (request === undefined || request.id === statusOf(object).lastHandledCheckNodes)
    return undefined;
  if (request.kind === 'unusable') {
    const { message } = request;
    deps.recorder.record(object, { type: 'Warning', reason: 'CheckNodesRefused', message });
    return end(request.id);
  }
  const resolution = resolveConfig(object, deps.settings);
  // The status reports why; the request waits for the edit.
  if (resolution.kind === 'refused') return undefined;
  const { config } = resolution;
  try {
    record(await requestChecks({ ...context, config }, request, deps, signal));
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { reason, retryAfterMs = 0 } = error;
    deps.log.warn({ reason, err: error }, 'checks not requested, tried again');
    return { requeueAfterMs: Math.max(retryAfterMs, pauseAfterFailure(context, request.id)) };
  }
  return end(request.id);

  async function end(id: string): Promise<undefined> {
    await deps.writer.handledCheckNodes(context, id, signal);
  }

  function record({ refused, repeated }: Requested): void {
    const { nodes, heal, id } = request as CheckNodesRequest;
    const count = nodes.length - refused.length - repeated.length;
    const what = heal ? 'checked and healed' : 'checked';
    const will = `${counted(count, 'node')} will be ${what} (multinic.io/check-nodes ${id})`;
    const again =
      repeated.length === 0
        ? ''
        : `; ${repeated.join(', ')}: already ${what} with this id, a new id does it again`;
    const message = shortMessage(will + again);
    const { recorder } = deps;
    if (count + repeated.length > 0)
      recorder.record(object, { type: 'Normal', reason: 'ChecksRequested', message });
    if (refused.length === 0) return;
    const text = shortMessage(`multinic.io/check-nodes ${id}: ${refused.join('; ')}`);
    recorder.record(object, { type: 'Warning', reason: 'CheckNodesRefused', message: text });
  }
}

interface FailedChecks {
  readonly id: string;
  readonly count: number;
}

/** Failed attempts to pass on the request in multinic.io/check-nodes. */
const failedChecks = new Slot<TermMemory, FailedChecks>(() => ({ id: '', count: 0 }));

function pauseAfterFailure({ memory: { term } }: ConfigContext, id: string): number {
  const last = failedChecks.of(term);
  const before = last.id === id ? last.count : 0;
  failedChecks.set(term, { id, count: before + 1 });
  return Math.min(firstRetryMs * 2 ** before, longestRetryMs);
}

interface ResolvedContext extends ConfigContext {
  readonly config: ResolvedConfig;
}

interface Requested {
  /** Why nodes are not checked. */
  readonly refused: readonly string[];
  /** Nodes that have been checked with the same id, before a retry or for an earlier request. */
  readonly repeated: readonly string[];
}

/** Requests the checks. Throws StepFailure while Viola does not answer. */
async function requestChecks(
  { object, config }: ResolvedContext,
  { nodes, id, heal }: CheckNodesRequest,
  { management, violas, perform }: CheckNodesDeps,
  signal: AbortSignal,
): Promise<Requested> {
  const repeated: string[] = [];
  const owner = await management.owner(object, signal);
  const source = { ...ownerOf(object), generation: generationOf(object) };
  const viola = await violas.of(config.viola, config.providerId, source);

  async function checkOne(nodeName: string): Promise<string | undefined> {
    const existing = await viola.get(nodeName, signal);
    if (existing === undefined) return `${config.providerId} has no node "${nodeName}"`;
    if (!isOwn(existing, owner)) {
      return `node "${nodeName}" is not delivered by ${keyOf(object)}; set the annotation on the OpenstackConfig that delivers it`;
    }
    const { checkAsked, healAsked } = existing.status?.applied ?? {};
    if ((heal === true ? healAsked : checkAsked) === id) {
      repeated.push(nodeName);
      return undefined;
    }
    const request = { id, ...(heal === undefined ? {} : { heal }) };
    const requested = await perform('operator.node-config.check', async () =>
      viola.check(nodeName, request, signal),
    );
    return refusals[requested](nodeName);
  }

  const reasons = await mapBounded(
    nodes,
    requestsAtOnce,
    async (name) => checkOne(name).catch((error: unknown) => refusalOf(name, error, signal)),
    signal,
  );
  return { refused: reasons.flatMap((reason) => reason ?? []), repeated };
}

const refusals: Readonly<
  Record<Awaited<ReturnType<ViolaClient['check']>>, (nodeName: string) => string | undefined>
> = {
  requested: () => undefined,
  gone: (nodeName) => `node "${nodeName}" was deleted meanwhile`,
  unsupported: (nodeName) => `node "${nodeName}": this Viola has no checks; upgrade Viola`,
};

/** Returns why Viola refuses a node. Throws StepFailure for a transient failure. */
function refusalOf(nodeName: string, error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (!isRequestError(error)) throw error;
  const { message, code } = error;
  const passes = isRequestError(error, 'timeout', 'unreachable', 'rateLimited', 'serverError');
  if (passes && code !== 'Unreadable') {
    throw violaFailure(error);
  }
  return `node "${nodeName}": ${message}`;
}
