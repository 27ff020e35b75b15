import { findCondition } from '../../api/condition.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import {
  adoption,
  type Setting,
  settingName,
  settingsOf,
  sharedOf,
} from '../../api/shared-content.ts';
import { type NodeConfig, readNodeConfig } from '../../controller/objects/stores.ts';
import { imageIn } from '../../controller/scheduling/revision.ts';
import { progressOf, type Step } from '../../controller/scheduling/rollout.ts';
import {
  type CountedRun,
  type RolloutNode,
  type RolloutState,
  rolloutNodeOf,
} from '../../controller/scheduling/rollout-node.ts';
import { settingRevision } from '../../controller/scheduling/setting-revision.ts';

/** A node in a rollout. */
interface NodeInRollout {
  readonly nodeName: string;
  readonly state: RolloutState;
  /** Start of the counted run (milliseconds since 1970); undefined: no run. */
  readonly at: number | undefined;
  /** Message of Ready, or of RolloutStopped; empty: none. */
  readonly message: string;
}

/** A change that reaches a few nodes first. */
export interface ObservedRollout {
  readonly revision: string;
  /** uid of the source, such as an OpenstackConfig. */
  readonly source: string;
  /** Generation of the source; undefined: the change is a setting. */
  readonly generation: number | undefined;
  /** Changed setting, such as "routing mode pbr"; undefined: unknown, or no setting. */
  readonly setting: string | undefined;
  readonly step: Step;
  /** Nodes that want the change. */
  readonly total: number;
  readonly nodes: readonly NodeInRollout[];
}

/** A MultiNicNodeConfig with its rollout data. */
interface Entry {
  readonly config: NodeConfig;
  readonly node: RolloutNode;
}

/** Returns the rollouts in a business cluster with at least one node that waits, is changed or failed. */
export function rolloutsIn(configs: readonly MultiNicNodeConfig[]): ObservedRollout[] {
  const all = configs.map(readNodeConfig);
  const image = latestImage(all);
  const entries = all.map((config): Entry => ({ config, node: rolloutNodeOf(config, image) }));
  const revisions = new Set(entries.flatMap(({ node }) => revisionsOf(node)));
  return [...revisions].flatMap((revision) => rolloutOf(revision, entries));
}

/** Returns the agent image's hash in the latest run's record; empty: no run. */
function latestImage(configs: readonly NodeConfig[]): string {
  const records = configs.flatMap(({ status }) => status?.applied ?? []);
  const [latest] = records.toSorted((a, b) => timeOf(b.at) - timeOf(a.at));
  return latest?.revision === undefined ? '' : imageIn(latest.revision);
}

function timeOf(at: string | undefined): number {
  return Date.parse(at ?? '') || 0;
}

function revisionsOf({ ahead, runs }: RolloutNode): string[] {
  return [...ahead, ...runs].map(({ revision }) => revision);
}

function rolloutOf(revision: string, entries: readonly Entry[]): ObservedRollout[] {
  const own = entries.filter(
    ({ node }) => node.wanted.includes(revision) || runOf(node, revision) !== undefined,
  );
  const nodes = own.flatMap((entry) => nodeOf(entry, revision) ?? []);
  const isOpen = nodes.some(({ state }) => state !== 'done');
  const [first] = own;
  if (!first || !isOpen) return [];
  const { source } = first.node;
  const generation = generationIn(revision);
  const setting = generation === undefined ? settingIn(revision, source, own) : undefined;
  return [
    {
      revision,
      source,
      generation,
      setting,
      step: stepOf(nodes, own.length),
      total: own.length,
      nodes,
    },
  ];
}

function runOf({ runs }: RolloutNode, revision: string): CountedRun | undefined {
  return runs.find((run) => run.revision === revision);
}

/** Returns undefined for a node that the rollout does not count, such as a node with its first NICs. */
function nodeOf({ config, node }: Entry, revision: string): NodeInRollout | undefined {
  const run = runOf(node, revision);
  const state = stateOf(node, revision, run);
  if (state === undefined) return undefined;
  const message = state === 'done' ? '' : messageOf(config, state);
  return { nodeName: config.metadata.name, state, at: run?.at, message };
}

function messageOf({ status }: NodeConfig, state: RolloutState): string {
  const type = state === 'stopped' ? 'RolloutStopped' : 'Ready';
  return findCondition(status?.conditions, type)?.message ?? '';
}

const stateOfPhase = { started: 'running', failed: 'failed', done: 'done' } as const;

function stateOf(
  { states, ahead }: RolloutNode,
  revision: string,
  run: CountedRun | undefined,
): RolloutState | undefined {
  const [state] = states;
  const isAhead = ahead.some((each) => each.revision === revision);
  if (isAhead && (state === 'waiting' || state === 'stopped')) return state;
  return run && stateOfPhase[run.phase];
}

function stepOf(nodes: readonly NodeInRollout[], total: number): ObservedRollout['step'] {
  const named = (state: RolloutState) => nodes.filter((node) => node.state === state);
  if (named('stopped').length > 0) return 'stopped';
  const { step } = progressOf({
    total,
    running: named('running').map(({ nodeName }) => nodeName),
    done: named('done').length,
    failures: named('failed').map(({ nodeName, at = 0 }) => ({ node: nodeName, at })),
  });
  return step;
}

/** Returns the generation in `<uid>/<generation>/<image>`; undefined: a setting's revision. */
function generationIn(revision: string): number | undefined {
  const text = revision.split('/').at(-2) ?? '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the setting's key behind a revision; undefined: unknown. */
function settingIn(
  revision: string,
  source: string,
  entries: readonly Entry[],
): string | undefined {
  for (const { config } of entries) {
    const entriesOfNics = config.spec?.interfaces ?? [];
    const found = settingsBehind(config).find((each) => settingRevision(source, each) === revision);
    if (found) return settingName(found, entriesOfNics);
  }
  return undefined;
}

/** Returns the settings of the node's runs, and of its wanted NICs. */
function settingsBehind({ spec, status }: NodeConfig): readonly Setting[] {
  const { settings = [] } = status?.applied ?? {};
  const ofRuns = settings.flatMap(({ key, value }) =>
    key === undefined || value === undefined ? [] : { key, value },
  );
  return [...ofRuns, ...settingsOf(sharedOf(spec?.interfaces ?? [])), adoption];
}
