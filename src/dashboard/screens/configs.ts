import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { PlanView } from '../../api/read-http.ts';
import { keyOf } from '../../explain/commands.ts';
import { missingOf } from '../../explain/conclusion.ts';
import type { Fact } from '../../explain/fact.ts';
import { valueOf } from '../../explain/subject.ts';
import { ofMessage } from '../../explain/wording.ts';
import { Failure } from '../../session/access/failure.ts';
import type { Session } from '../../session/access/session.ts';
import { readConfigs } from '../../session/facts/management-facts.ts';
import { readClusters } from '../../session/facts/operator-facts.ts';
import { readMultiNicOperators, triggerModeOf } from '../../session/facts/operator-objects.ts';
import { readLastPlan } from '../../session/facts/plan-facts.ts';
import { required } from '../../session/facts/required.ts';
import { type ConfigContext, shownClouds, shownConfig } from './shown-configs.ts';
import { gapsIn } from './shown-sources.ts';

/** Most OpenstackConfigs in an answer. */
const mostConfigs = 200;
/** Most waiting removals in an answer. */
const mostHeldNics = 100;
/** Most named servers in an answer. */
const mostServers = 100;

/** Reads OpenstackConfigs and their clouds. */
export async function readConfigsScreen(session: Session): Promise<ScreenAnswer<'configs'>> {
  const { at, configs, context, missing } = await readConfigContext(session);
  const all = valueOf(configs) ?? [];
  return {
    at,
    ...gapsIn(missing, session.options),
    configs: all.slice(0, mostConfigs).map((config) => shownConfig(config, context)),
    count: all.length,
    clouds: shownClouds(all),
  };
}

/** Reads an OpenstackConfig with the plan of its last sync. Throws Failure: no such OpenstackConfig. */
export async function readConfigScreen(
  name: { readonly namespace: string; readonly name: string },
  session: Session,
): Promise<ScreenAnswer<'config'>> {
  const key = `${name.namespace}/${name.name}`;
  const [{ at, configs, context, missing }, plan] = await Promise.all([
    readConfigContext(session, name.namespace),
    readLastPlan(session, key),
  ]);
  const config = required(configs).find((each) => keyOf(each) === key);
  if (!config) throw absentConfig(key);
  const [cloud] = shownClouds([config]);
  if (!cloud) throw new Error(`no cloud of ${key}`);
  return {
    at,
    ...gapsIn([...missing, ...missingOf(plan)], session.options),
    config: shownConfig(config, context),
    cloud,
    ...selectionOf(config),
    plan: shownPlan(valueOf(plan)),
    ...attentionOf(config),
  };
}

function absentConfig(key: string): Failure {
  return new Failure(
    `no OpenstackConfig ${key} exists`,
    'list the OpenstackConfigs with: kubectl multinic status',
  );
}

interface ConfigsRead {
  readonly at: string;
  readonly configs: Fact<readonly OpenstackConfig[]>;
  readonly context: ConfigContext;
  readonly missing: ReturnType<typeof missingOf>;
}

async function readConfigContext(session: Session, namespace?: string): Promise<ConfigsRead> {
  const now = session.now();
  const [configs, clusters, operators] = await Promise.all([
    readConfigs(session, namespace),
    readClusters(session),
    readMultiNicOperators(session),
  ]);
  const facts: readonly Fact<unknown>[] = [configs, clusters, operators];
  return {
    at: now.toISOString(),
    configs,
    context: {
      clusters,
      trigger: triggerModeOf(operators),
      now,
    },
    missing: facts.flatMap(missingOf),
  };
}

function selectionOf({
  spec,
}: OpenstackConfig): Pick<ScreenAnswer<'config'>, 'subnets' | 'servers'> {
  const { subnetIDs, subnetID, subnetName, vmNames = [], vmSelector } = spec;
  const { metadata = {}, tags = [] } = vmSelector ?? {};
  const [single] = [subnetID, subnetName].filter((each) => each !== undefined && each !== '');
  return {
    subnets: subnetIDs?.length ? subnetIDs : single === undefined ? [] : [single],
    servers: {
      names: vmNames.slice(0, mostServers),
      count: vmNames.length,
      metadata,
      tags,
    },
  };
}

function shownPlan(plan: PlanView | undefined): ScreenAnswer<'config'>['plan'] {
  if (plan === undefined) return undefined;
  const { hash, calculatedAt, budgets, problems, nodes, heldRemovals } = plan;
  const held = nodes.flatMap(({ nodeName, heldNics = [] }) =>
    heldNics.map((nic) => ({ nodeName, ...nic })),
  );
  return {
    hash,
    at: calculatedAt,
    budgets,
    problems,
    heldNics: held.slice(0, mostHeldNics),
    heldRemovals,
    unconfirmed: nodes.reduce((sum, node) => sum + node.unconfirmedRemovals.length, 0),
  };
}

function attentionOf({
  status,
}: OpenstackConfig): Pick<ScreenAnswer<'config'>, 'attention' | 'unusedPorts'> {
  const { nodes = [], unusedPorts = [] } = status ?? {};
  return {
    attention: nodes.map(({ name = '', state = '', reason = '', message }) => ({
      nodeName: name,
      state,
      reason,
      text: ofMessage(reason, message),
    })),
    unusedPorts: unusedPorts.map(({ portId = '', address, reason = '', message }) => ({
      portId,
      address,
      reason,
      text: ofMessage(reason, message),
    })),
  };
}
