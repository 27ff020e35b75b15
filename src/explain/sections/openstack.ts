import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { NodeView } from '../../api/read-http.ts';
import { blocks, rowOf } from '../../api/reasons.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { isRecent } from '../checks/patience.ts';
import { keyOf, multinic } from '../commands.ts';
import type { Missing } from '../fact.ts';
import type { SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { nextFor } from '../next-steps.ts';
import { isSyncedBy, providerOfConfig, valueOf } from '../subject.ts';
import { ofMessage } from '../wording.ts';
import { type Checked, error, info, onFact, reportOf, warning } from './check.ts';
import { notConfigured } from './not-configured.ts';

/** Examines cloud reads and ports without NIC on selected servers. */
export function examineOpenstack(facts: SystemFacts): SectionReport {
  const nodes = valueOf(facts.nodes);
  const checked = onFact(facts.configs, (configs) => ({
    findings: configs.flatMap((config) => [
      ...readiness(config),
      ...details(config),
      ...behindPlan(config, facts),
      ...unusedPorts(config, nodes ?? []),
    ]),
    skipped: configs.flatMap((config) => unreadNodes(config, facts)),
    checks: configs.filter(isSettled).length * checksPerConfig,
  }));
  const configs = valueOf(facts.configs) ?? [];
  const summary = syncedConfigs(configs);
  const empty = configs.length > 0 ? summary : emptyNamespace(facts);
  return reportOf('openstack', summary, [checked, onFact(facts.nodes, () => none)], empty);
}

/** Returns a sentence about a namespace without OpenstackConfigs; undefined: no such namespace was examined. */
export function emptyNamespace({ configs, namespace }: SystemFacts): Wording | undefined {
  if (namespace === undefined || valueOf(configs)?.length !== 0) return undefined;
  return filled(doctorTexts.noConfigIn, { namespace });
}

/** True if Ready shows the cloud's result: not before the first attempt, and not with a failed delivery. */
function isSettled({ status }: OpenstackConfig): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  const { status: word = 'Unknown', reason = '' } = ready ?? {};
  return (
    isSyncedBy(ready) || reason === 'Paused' || (word === 'False' && !blocks(reason, 'delivery'))
  );
}

/** Only a completed sync has used the credentials. */
function syncedConfigs(configs: readonly OpenstackConfig[]): Wording {
  const { length } = configs;
  const synced = configs.filter(({ status }) =>
    isSyncedBy(findCondition(status?.conditions, 'Ready')),
  ).length;
  return synced === length
    ? filled(doctorTexts.allSynced, { openstackConfigs: amount(length, 'OpenstackConfig') })
    : filled(doctorTexts.someSynced, {
        synced,
        openstackConfigs: amount(length, 'OpenstackConfig'),
      });
}

const none: Checked = { findings: [], checks: 0 };
/** Readiness, notifications, credentials and TLS, unused ports. */
const checksPerConfig = 4;

/** The user's choices with nodes without planned NICs; a user may forget the choice. */
const withoutApply: ReadonlySet<string> = new Set(['Paused', 'Observed']);

function readiness(config: OpenstackConfig): Checked['findings'] {
  const ready = findCondition(config.status?.conditions, 'Ready');
  const { reason = 'NotSyncedYet', message } = ready ?? {};
  const key = keyOf(config);
  const next = nextFor(reason, { config: key, spec: config.spec });
  const evidence = ofMessage(reason, message);
  if (withoutApply.has(reason)) return [warning(key, reason, evidence, next)];
  if (ready?.status === 'True') return [];
  // The trigger mode is the user's choice.
  if (ready?.status !== 'False') return [info(key, reason, evidence)];
  return blocks(reason, 'delivery') ? [] : [error(key, reason, evidence, next)];
}

/** Conditions beside Ready without effect on NICs. */
function details(config: OpenstackConfig): Checked['findings'] {
  const { conditions = [] } = config.status ?? {};
  const key = keyOf(config);
  return conditions.flatMap(({ type, status, reason = '', message }) => {
    const evidence = ofMessage(reason, message);
    if (reason === 'Disconnected' && status === 'False') {
      return [warning(key, reason, evidence, nextFor(reason, {}))];
    }
    if (reason === 'DuplicateCluster' || reason === 'OwnerUnverified') {
      return [warning(key, reason, evidence, nextFor(reason, {}))];
    }
    const isChoice = type === 'TLSVerified' || reason === 'SecretInSpec';
    return isChoice ? [info(key, reason, evidence)] : [];
  });
}

/** Conditions about the planned NICs in the business cluster. */
const planTypes: ReadonlySet<string> = new Set(['NICsReady', 'Delivered']);

/** Returns a finding if the business cluster lacks planned NICs without a finding about Ready or a node. */
function behindPlan(config: OpenstackConfig, facts: SystemFacts): Checked['findings'] {
  const behind = config.status?.conditions?.find(
    ({ type, status }) => planTypes.has(type) && status === 'False',
  );
  if (!behind || hasCause(config, facts)) return [];
  const key = keyOf(config);
  const { reason = 'NICsNotConfigured', message, lastTransitionTime } = behind;
  const evidence = ofMessage(reason, message);
  if (isRecent(lastTransitionTime, facts.now)) return [info(key, reason, evidence)];
  return [error(key, reason, evidence, nextFor(reason, { config: key, spec: config.spec }))];
}

function hasCause({ status, ...config }: OpenstackConfig, facts: SystemFacts): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status === 'False' || ready?.reason === 'Paused') return true;
  const nodes = valueOf(facts.nodes) ?? [];
  const own = nodes.filter((node) => node.config === keyOf(config));
  return notConfigured(own, facts).length > 0;
}

/** Returns the gap after nodes without a read; a silent or unreachable business cluster has its own report. */
function unreadNodes(config: OpenstackConfig, { clusters }: SystemFacts): readonly Missing[] {
  const { conditions = [] } = config.status ?? {};
  const unread = conditions.find(
    ({ type, reason }) => planTypes.has(type) && reason === 'NodesNotRead',
  );
  const provider = providerOfConfig(config);
  const cluster = valueOf(clusters)?.find(({ providerId }) => providerId === provider);
  if (!unread || (cluster && cluster.reachable !== true)) return [];
  const place = provider ?? keyOf(config);
  const required = { source: 'Viola', place } as const;
  const what = filled(doctorTexts.nodesOf, { provider: place });
  const why = ofMessage('NodesNotRead', unread.message);
  return [{ what, why, next: nextFor('NodesNotRead', {}).text, required }];
}

interface UnusedPort {
  readonly portId?: string | undefined;
  readonly address?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

function unusedPorts(config: OpenstackConfig, nodes: readonly NodeView[]): Checked['findings'] {
  const key = keyOf(config);
  const own = nodes.filter((node) => node.config === key);
  const all: UnusedPort[] = [
    ...own.flatMap((node) => node.unusedPorts),
    ...(config.status?.unusedPorts ?? []),
  ];
  const byId = new Map(all.map((port) => [port.portId, port]));
  const groups = Map.groupBy(byId.values(), ({ reason = '' }) => reason);
  const shown = findCondition(config.status?.conditions, 'Ready');
  return [...groups].flatMap(([reason, ports]) => {
    // Ready already reports this reason.
    if (shown?.status === 'False' && shown.reason === reason) return [];
    return unused(key, reason, ports);
  });
}

function unused(key: string, reason: string, ports: readonly UnusedPort[]): Checked['findings'] {
  const count = ports.length;
  if (reason === 'SubnetNotSelected') {
    const evidence = filled(doctorTexts.subnetsNotSelected, {
      ports: amount(count, 'port'),
      are: count === 1 ? 'is' : 'are',
    });
    return [info(key, reason, evidence)];
  }
  const [first] = ports;
  if (!first) return [];
  const { portId = '', address = portId, message } = first;
  const cause = ofMessage(reason, message);
  const evidence = filled(doctorTexts.portsUnused, {
    ports: amount(count, 'port is not a NIC', 'ports are not NICs'),
    address,
    cause,
  });
  const commands = [commandFor(count, portId)];
  const text = rowOf(reason)?.action ?? evidence;
  return [warning(key, reason, evidence, { text, commands, preview: [] })];
}

function commandFor(count: number, portId: string): string {
  const isSingle = count === 1 && portId !== '';
  return isSingle ? multinic('why', portId) : multinic('nics', '--state', 'Unused');
}
