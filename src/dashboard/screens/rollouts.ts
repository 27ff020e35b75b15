import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { NodeView, PlanView } from '../../api/read-http.ts';
import { canaryAndWave } from '../../api/rollout-steps.ts';
import { dashboardTexts } from '../../api/texts/dashboard-screens.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { keyOf } from '../../explain/commands.ts';
import { missingOf } from '../../explain/conclusion.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import { valueOf } from '../../explain/subject.ts';
import { joined, ofMessage, same } from '../../explain/wording.ts';
import { readLastPlan } from '../../session/facts/plan-facts.ts';
import { type ObservedRollout, rolloutsIn } from '../../session/facts/rollouts.ts';
import { gapsOfExamination } from './fleet.ts';
import type { ScreenReads } from './screen-reads.ts';
import { withoutTwice } from './screen-reads.ts';
import { gapsIn } from './shown-sources.ts';

type RolloutsAnswer = ScreenAnswer<'rollouts'>;
type ShownRollout = RolloutsAnswer['rollouts'][number];
type ShownNode = ShownRollout['nodes'][number];

/** Most rollouts in an answer. */
const mostRollouts = 50;
/** Most nodes of a rollout in an answer: 50 rollouts with these stay below the largest answer. */
const mostNodes = 20;
/** Most plans for an answer: plans of thousands of servers are large. */
const mostPlans = 10;

/** Reads rollouts from the last examination, and the plans of OpenstackConfigs with waiting nodes. */
export async function readRolloutsScreen(
  reads: ScreenReads,
  signal: AbortSignal,
): Promise<RolloutsAnswer> {
  const examination = await reads.examination.value(signal);
  const { facts } = examination;
  const waiting = (valueOf(facts.nodes) ?? []).filter(isWaiting);
  const keys = [...new Set(waiting.map(({ config }) => config))].slice(0, mostPlans);
  const session = reads.session(signal);
  const plans = await Promise.all(keys.map((key) => readLastPlan(session, key)));
  const gaps = gapsOfExamination(examination);
  const { unread } = gapsIn(plans.flatMap(missingOf), session.options);
  const rollouts = [...observedRollouts(facts), ...reportedRollouts(waiting, facts)];
  return {
    ...gaps,
    unread: withoutTwice([...gaps.unread, ...unread]),
    rollouts: rollouts.toSorted((a, b) => rank(a) - rank(b)).slice(0, mostRollouts),
    planned: plans.flatMap((plan) => plannedRollouts(valueOf(plan))).slice(0, mostRollouts),
  };
}

/** Stopped rollouts first: a user must act. */
function rank({ step }: ShownRollout): number {
  return step === 'stopped' ? 0 : 1;
}

function isWaiting({ reason }: NodeView): boolean {
  return reason === 'RolloutWaiting' || reason === 'RolloutStopped';
}

/** Returns the rollouts in business clusters whose MultiNicNodeConfigs were read. */
function observedRollouts({ nodeConfigs, configs }: SystemFacts): ShownRollout[] {
  const known = valueOf(configs) ?? [];
  return [...nodeConfigs].flatMap(([providerId, fact]) =>
    rolloutsIn(valueOf(fact) ?? []).map((rollout) => shownRollout(providerId, rollout, known)),
  );
}

function shownRollout(
  providerId: string,
  { revision, source, nodes, total, step, ...change }: ObservedRollout,
  configs: readonly OpenstackConfig[],
): ShownRollout {
  const count = (...states: readonly string[]) =>
    nodes.filter(({ state }) => states.includes(state)).length;
  const config = configs.find(({ metadata }) => metadata.uid === source);
  const waiting = nodes.find(({ state }) => state === 'waiting' || state === 'stopped');
  const done = count('done');
  return {
    key: `${providerId}/${revision}`,
    providerId,
    config: config && keyOf(config),
    what: changeText(change),
    step,
    total,
    done,
    running: count('running'),
    failed: count('failed'),
    waiting: count('waiting', 'stopped'),
    steps: stepsOf(total, done),
    message: waiting ? ofMessage('RolloutWaiting', waiting.message) : same(''),
    nodes: nodes
      .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
      .slice(0, mostNodes)
      .map(shownNode),
  };
}

const order: readonly ShownNode['state'][] = ['failed', 'stopped', 'running', 'waiting', 'done'];

function shownNode({ nodeName, state, message, at }: ObservedRollout['nodes'][number]): ShownNode {
  return {
    nodeName,
    state,
    text: message === '' ? same('') : ofMessage('', message),
    at: at === undefined ? undefined : new Date(at).toISOString(),
  };
}

function changeText({
  generation,
  setting,
}: Pick<ObservedRollout, 'generation' | 'setting'>): ShownRollout['what'] {
  if (setting !== undefined) return filled(dashboardTexts.ofSetting, { setting });
  if (generation === undefined) return dashboardTexts.ofUnknownSetting;
  if (generation === 0) return dashboardTexts.ofSource;
  return filled(dashboardTexts.ofGeneration, { generation });
}

/** Returns first node, wave and rest, with changed nodes in this order. */
function stepsOf(total: number, done: number): ShownRollout['steps'] {
  const upTo = [1, canaryAndWave(total), total].map((size) => Math.min(size, total));
  return (['canary', 'wave', 'rest'] as const).flatMap((name, at) => {
    const before = upTo[at - 1] ?? 0;
    const nodes = (upTo[at] ?? 0) - before;
    return nodes <= 0 ? [] : { name, nodes, done: Math.min(nodes, Math.max(0, done - before)) };
  });
}

/** Returns waiting nodes of business clusters whose MultiNicNodeConfigs are unread. */
function reportedRollouts(
  waiting: readonly NodeView[],
  { nodeConfigs }: SystemFacts,
): ShownRollout[] {
  const unread = waiting.filter(({ providerId }) => nodeConfigs.get(providerId)?.state !== 'read');
  const groups = Map.groupBy(unread, ({ providerId, config }) => `${providerId}/${config}`);
  return [...groups].flatMap(([key, nodes]) => reportedRollout(key, nodes));
}

function reportedRollout(key: string, nodes: readonly NodeView[]): ShownRollout[] {
  const stopped = nodes.find(({ reason }) => reason === 'RolloutStopped');
  return nodes.slice(0, 1).map((first) => ({
    key,
    providerId: first.providerId,
    config: first.config,
    what: dashboardTexts.ofUnknownChange,
    step: stopped ? 'stopped' : 'unknown',
    total: nodes.length,
    done: 0,
    running: 0,
    failed: 0,
    waiting: nodes.length,
    steps: [],
    message: ofMessage((stopped ?? first).reason, (stopped ?? first).message),
    nodes: nodes.slice(0, mostNodes).map(({ nodeName, reason, message }) => ({
      nodeName,
      state: reason === 'RolloutStopped' ? ('stopped' as const) : ('waiting' as const),
      text: ofMessage(reason, message),
    })),
  }));
}

function plannedRollouts(plan: PlanView | undefined): RolloutsAnswer['planned'] {
  const { config = '', rollouts = [] } = plan ?? {};
  return rollouts.map(({ nodes, changes, steps }) => ({
    config,
    nodes,
    what:
      changes.length === 0
        ? dashboardTexts.ofUnknownChange
        : joined(
            changes.map(({ subnet, fields }) =>
              filled(screensTexts.changesOfSubnet, { fields: fields.join(', '), subnet }),
            ),
          ),
    steps,
  }));
}
