import type { PortConfigView, PortView } from '../../api/read-http.ts';
import type { Wording } from '../../api/reasons/reason-row.ts';
import { partialReasons, syncReasons } from '../config-reasons.ts';
import { nextFor } from '../next-steps.ts';
import { type Subject, serverName, subnetName } from '../subject.ts';
import { ageOf, ofMessage, say } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains whether an OpenstackConfig selects server and subnet, and whether its sync has decided about the port. */
export function selection(subject: Subject): Outcome {
  const { facts, port, config } = subject;
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) return unknown('the port is unknown', '포트를 알 수 없습니다');
  return (
    notSelected(subject, port) ?? notSynced(subject, port) ?? ok(selectedBy(subject, port, config))
  );
}

function notSelected(subject: Subject, port: PortView): Outcome | undefined {
  const { config, object } = subject;
  const spec = object?.spec;
  if (!config) {
    const evidence = say(
      `no OpenstackConfig of its project selects server ${serverName(port)} or a subnet of the port`,
      `프로젝트의 어떤 OpenstackConfig도 서버 ${serverName(port)} 또는 포트의 서브넷을 선택하지 않습니다`,
    );
    return fail('ServerNotSelected', evidence, nextFor('ServerNotSelected', { port }));
  }
  const { selectsServer, selectsSubnet } = config;
  // A port without an address is in no subnet; the filter reports that.
  const lacksSubnet = selectsSubnet === false && port.addresses.length > 0;
  if (selectsServer !== false && !lacksSubnet) return unreadSelection(config, port);
  const reason = selectsServer === false ? 'ServerNotSelected' : 'SubnetNotSelected';
  const evidence =
    reason === 'ServerNotSelected' ? lacksServer(subject, port) : lacks(subject, port);
  return fail(reason, evidence, nextFor(reason, { config: config.config, spec, port }));
}

function unreadSelection(
  { config, selectsServer, selectsSubnet }: PortConfigView,
  { addresses }: PortView,
): Outcome | undefined {
  const hasSubnet = selectsSubnet !== undefined || addresses.length === 0;
  if (selectsServer !== undefined && hasSubnet) return undefined;
  const missing = `the selection of OpenstackConfig ${config} could not be read`;
  return unknown(missing, `OpenstackConfig ${config}의 선택 대상을 조회하지 못했습니다`);
}

function lacksServer(subject: Subject, port: PortView): Wording {
  const { config } = subject;
  const key = config?.config ?? '';
  const server = serverName(port);
  const subnets = subnetsOf(subject, port);
  return config?.selectsSubnet
    ? say(
        `OpenstackConfig ${key} selects subnet ${subnets}, but not server ${server} (${port.deviceId})`,
        `OpenstackConfig ${key}가 서브넷 ${subnets}를 선택하지만 서버 ${server}(${port.deviceId})는 선택하지 않습니다`,
      )
    : say(
        `OpenstackConfig ${key} does not select server ${server} (${port.deviceId})`,
        `OpenstackConfig ${key}가 서버 ${server}(${port.deviceId})를 선택하지 않습니다`,
      );
}

function lacks(subject: Subject, port: PortView): Wording {
  const { config, object } = subject;
  const { subnetIDs, subnetID, subnetName: byName } = object?.spec ?? {};
  const key = config?.config ?? '';
  const selected = subnetIDs ?? [subnetID ?? byName].filter(Boolean);
  const list = selected.length > 0 ? selected.join(', ') : undefined;
  const subnets = subnetsOf(subject, port);
  return say(
    `OpenstackConfig ${key} selects server ${serverName(port)}, but not subnet ${subnets}${list ? `; it selects ${list}` : ''}`,
    `OpenstackConfig ${key}가 서버 ${serverName(port)}를 선택하지만 서브넷 ${subnets}는 선택하지 않습니다${list ? ` (선택한 서브넷: ${list})` : ''}`,
  );
}

function subnetsOf(subject: Subject, { addresses }: PortView): string {
  const ids = [...new Set(addresses.map(({ subnetId }) => subnetId))];
  return ids.map((id) => subnetName(id, subject)).join(', ');
}

/** Returns why no sync has decided about the port as it is now. */
function notSynced(subject: Subject, port: PortView): Outcome | undefined {
  const { config, nic, facts } = subject;
  if (!config) return undefined;
  const trouble = troubleOf(config, port);
  if (trouble) {
    const { reason, evidence } = trouble;
    const next = nextFor(reason, { config: config.config });
    // A NIC of an earlier sync stays as it is.
    return hasNic(subject, port) ? warn(reason, evidence, next) : fail(reason, evidence, next);
  }
  if (port.verdict && !isStale(port, config)) return undefined;
  if (nic) return undefined;
  // After a restart of the operator only the node shows whether the port is a NIC.
  if (!port.verdict && port.node && facts.node.state === 'unread') return skipped(facts.node);
  const next = nextFor('NotSyncedYet', { config: config.config });
  return fail('NotSyncedYet', syncTimes(config, facts.now), next);
}

function hasNic({ nic }: Subject, { verdict }: PortView): boolean {
  return nic !== undefined || verdict?.nic !== undefined;
}

/** True if the last sync decided about another selection, or about a port without address. */
function isStale({ verdict, addresses }: PortView, { config, selectsSubnet }: PortConfigView) {
  if (verdict?.nic !== undefined) return false;
  if (verdict?.config !== config) return true;
  const { reason } = verdict;
  if (reason === 'SubnetNotSelected') return selectsSubnet === true;
  return reason === 'PortWithoutAddress' && addresses.length > 0;
}

interface Trouble {
  readonly reason: string;
  readonly evidence: Wording;
}

/** Returns why the OpenstackConfig is not synced at all. */
function troubleOf(config: PortConfigView, { verdict }: PortView): Trouble | undefined {
  const { paused, ready, reason, message } = config;
  if (paused !== undefined) {
    const evidence = say(
      `OpenstackConfig ${config.config} is paused (annotation multinic.io/paused: ${JSON.stringify(paused)}): ${message}`,
      `OpenstackConfig ${config.config}가 일시 중지되었습니다(어노테이션 multinic.io/paused: ${JSON.stringify(paused)}): ${message}`,
    );
    return { reason: 'Paused', evidence };
  }
  const isPartial = partialReasons.has(reason) && verdict === undefined;
  if (ready !== 'False' || !(syncReasons.has(reason) || isPartial)) return undefined;
  const words = ofMessage(reason, message);
  const evidence = say(
    `the sync of OpenstackConfig ${config.config} fails: ${words.en}`,
    `OpenstackConfig ${config.config}의 동기화가 실패합니다: ${words.ko}`,
  );
  return { reason, evidence };
}

function syncTimes(
  { config, trigger, lastSyncAt, nextSyncAt, message }: PortConfigView,
  now: Date,
) {
  const last = lastSyncAt ? `${lastSyncAt} (${ageOf(lastSyncAt, now).en} ago)` : 'none yet';
  const next = nextSyncAt ?? (trigger === 'immediate' ? 'soon' : message || 'unknown');
  return say(
    `no sync of OpenstackConfig ${config} has decided about this port yet; trigger mode ${trigger}, last sync ${last}, next sync ${next}`,
    `OpenstackConfig ${config}의 동기화가 아직 이 포트를 처리하지 않았습니다. 트리거 모드 ${trigger}, 마지막 동기화 ${lastSyncAt ?? '없음'}, 다음 동기화 ${nextSyncAt ?? '알 수 없음'}`,
  );
}

function selectedBy(subject: Subject, port: PortView, config: PortConfigView | undefined): Wording {
  const key = config?.config ?? '';
  const server = serverName(port);
  if (port.addresses.length === 0) {
    return say(
      `OpenstackConfig ${key} selects server ${server}`,
      `OpenstackConfig ${key}가 서버 ${server}를 선택합니다`,
    );
  }
  const subnets = subnetsOf(subject, port);
  return say(
    `OpenstackConfig ${key} selects subnet ${subnets} and server ${server}`,
    `OpenstackConfig ${key}가 서브넷 ${subnets}와 서버 ${server}를 선택합니다`,
  );
}
