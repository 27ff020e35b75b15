import type { PortView } from '../../api/read-http.ts';
import type { Wording } from '../../api/texts/text.ts';
import { nextFor } from '../next-steps.ts';
import { type PortConfigView, type Subject, serverName, subnetName } from '../subject.ts';
import { say } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown } from './outcome.ts';
import { awaitsSync, failingSync, notSynced } from './sync-state.ts';

/** Explains whether an OpenstackConfig selects server and subnet, and whether a sync has decided about the port. */
export function selection(subject: Subject): Outcome {
  const { facts, port, config } = subject;
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) return unknown('the port is unknown', '포트를 알 수 없습니다');
  const open = config && awaitsSync(config, subject, port);
  return (
    open ??
    notSelected(subject, port) ??
    notSynced(subject, port) ??
    ok(selectedBy(subject, port, config))
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
  // A port without an address is in no subnet; the filter reports PortWithoutAddress.
  const lacksSubnet = selectsSubnet === false && port.addresses.length > 0;
  if (selectsServer !== false && !lacksSubnet) return unreadSelection(config, subject, port);
  const reason = selectsServer === false ? 'ServerNotSelected' : 'SubnetNotSelected';
  const evidence =
    reason === 'ServerNotSelected' ? lacksServer(subject, port) : lacks(subject, port);
  return fail(reason, evidence, nextFor(reason, { config: config.config, spec, port }));
}

/** Without a plan the operator knows no selection: a failing sync is then the cause. */
function unreadSelection(
  config: PortConfigView,
  subject: Subject,
  port: PortView,
): Outcome | undefined {
  const hasSubnet = config.selectsSubnet !== undefined || port.addresses.length === 0;
  if (config.selectsServer !== undefined && hasSubnet) return undefined;
  const key = config.config;
  return (
    failingSync(config, subject, port) ??
    unknown(
      `the selection of OpenstackConfig ${key} could not be read`,
      `OpenstackConfig ${key}의 선택 대상을 조회하지 못했습니다`,
    )
  );
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
