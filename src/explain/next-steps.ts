import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { NicView, PortView } from '../api/read-http.ts';
import type { Wording } from '../api/reasons/reason-row.ts';
import * as run from './commands.ts';
import { foreignAddressIn } from './node-messages.ts';
import type { NextStep } from './step.ts';
import { rowOf, same, say } from './wording.ts';

/** Subject for a reason; every field is optional because a finding has fewer facts than an explanation. */
export interface About {
  /** OpenstackConfig as `namespace/name`. */
  readonly config?: string | undefined;
  readonly spec?: OpenstackConfig['spec'] | undefined;
  readonly port?: Pick<PortView, 'portId' | 'deviceId' | 'addresses'> | undefined;
  readonly providerId?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly nic?: Pick<NicView, 'message' | 'portId'> | undefined;
  /** Message beside the reason. */
  readonly message?: string | undefined;
  /** Latest agent Job. */
  readonly job?: string | undefined;
}

type Builder = (about: About) => Partial<NextStep>;

/** Returns the next step for a reason: the action from the reasons table, plus known commands. */
export function nextFor(reason: string, about: About): NextStep {
  const text = rowOf(reason)?.action ?? same('');
  return { text, commands: [], preview: [], ...builders[reason]?.(about) };
}

const builders: Readonly<Record<string, Builder>> = {
  PortTooOld: ({ config }) =>
    ofConfig(config, (key) => ({
      text: say(
        'accept ports that are older than the OpenstackConfig:',
        'OpenstackConfig보다 먼저 생성된 포트도 사용하도록 설정하십시오.',
      ),
      commands: [run.patchConfig(key, { spec: { settings: { portBaseline: 'All' } } })],
      preview: [run.multinic('plan', key, '--set', 'portBaseline=All')],
    })),
  SubnetNotSelected: ({ config, spec, port }) =>
    ofConfig(config, (key) => ({
      commands: selectSubnet(key, spec, port?.addresses[0]?.subnetId),
    })),
  ServerNotSelected: ({ config, spec, port }) =>
    ofConfig(config, (key) => ({ commands: selectServer(key, spec, port?.deviceId) })),
  FamilyNotWanted: ({ config }) =>
    ofConfig(config, (key) => ({
      commands: [
        run.patchConfig(key, { spec: { settings: { addressFamilies: ['IPv4', 'IPv6'] } } }),
      ],
    })),
  PortWithoutAddress: ({ port, spec }) => ({
    commands: ofPort(port, (id) => {
      const [subnet] = spec?.subnetIDs ?? (spec?.subnetID ? [spec.subnetID] : []);
      return subnet ? [run.openstack('port', 'set', '--fixed-ip', `subnet=${subnet}`, id)] : [];
    }),
  }),
  PortStatus: ({ port }) => ({
    commands: ofPort(port, (id) => [run.openstack('port', 'show', id)]),
  }),
  PortNotPlugged: ({ port }) => ({
    commands: ofPort(port, (id) => [run.openstack('port', 'show', id)]),
  }),
  InterfaceLimitExceeded: ({ port, config, spec }) => raiseLimit(config, spec) ?? detach(port),
  Paused: ({ config }) => ofConfig(config, (key) => ({ commands: [run.unpause(key)] })),
  NotSyncedYet: sync,
  WaitingForTrigger: sync,
  ContrabassError: sync,
  KeystoneError: sync,
  RemovalHeld: ({ config, message = '' }) =>
    ofConfig(config, (key) => ({
      text: textOfHold(message),
      commands: [run.allowRemovals(key)],
      preview: [run.multinic('plan', key, '--removals')],
    })),
  NodeNotFound: () => ({ commands: [run.listSystemUuids] }),
  DuplicateSystemUUID: () => ({ commands: [run.listSystemUuids] }),
  JobRefused: () => ({ commands: [run.listQuotas] }),
  JobFailed: ({ job }) => ({ commands: job ? [run.jobLogs(job)] : [] }),
  WaitingForNIC: ({ port }) => ({
    text: say(
      'if the hypervisor does not plug the NIC within minutes (for example because its PCIe slots are used up), detach and attach the port again:',
      '하이퍼바이저가 몇 분 안에 NIC를 연결하지 않으면(PCIe 슬롯 부족 등) 포트를 분리한 뒤 다시 연결하십시오.',
    ),
    commands: ofPort(port, (id, server) => [
      run.openstack('server', 'remove', 'port', server, id),
      run.openstack('server', 'add', 'port', server, id),
    ]),
  }),
  NICInUse: ({ nic }) => {
    const foreign = nic && foreignAddressIn(nic.message);
    if (!foreign) return {};
    const { address, link } = foreign;
    return {
      text: say(
        'remove the address on the node, or take the port out of the selection:',
        '노드에서 이 주소를 제거하거나, 포트를 선택 대상에서 제외하십시오.',
      ),
      commands: [run.onNode('ip', 'addr', 'del', address, 'dev', link)],
    };
  },
  Drifted: ({ nodeName }) => ({
    commands: nodeName ? [run.multinic('sync', '--node', nodeName)] : [],
    preview: nodeName ? [run.multinic('diff', nodeName)] : [],
  }),
  MtuDiffers: ({ nodeName }) => ({ commands: nodeName ? [run.multinic('diff', nodeName)] : [] }),
  PortDownButUp: ({ port, nic }) => {
    const id = port?.portId ?? nic?.portId;
    if (id === undefined) return {};
    const set = (flag: string) => run.openstack('port', 'set', flag, id);
    return { commands: [set('--disable'), set('--enable')] };
  },
  PortAdminDown: ({ port }) => ({
    commands: ofPort(port, (id) => [run.openstack('port', 'set', '--enable', id)]),
  }),
};

/** Returns the next step for the message's code. */
function textOfHold(message: string): Wording {
  const code = /\b(OverBudget|SideEffect|NotKnownYet)\b/.exec(message)?.[1] ?? 'RemovalHeld';
  const text = rowOf(code)?.action ?? rowOf('RemovalHeld')?.action;
  return text ?? same('');
}

function ofConfig(
  config: string | undefined,
  build: (key: string) => Partial<NextStep>,
): Partial<NextStep> {
  return config === undefined ? {} : build(config);
}

function ofPort(
  port: About['port'],
  build: (id: string, server: string) => readonly string[],
): readonly string[] {
  return port ? build(port.portId, port.deviceId) : [];
}

function sync({ config }: About): Partial<NextStep> {
  return ofConfig(config, (key) => ({ commands: [run.multinic('sync', key)] }));
}

/** A subnet by name has no list to extend, and the id behind the name is unknown here. */
function selectSubnet(
  config: string,
  spec: OpenstackConfig['spec'] | undefined,
  subnet: string | undefined,
): readonly string[] {
  if (subnet === undefined) return [];
  const { subnetIDs = [], subnetID, subnetName } = spec ?? {};
  if (spec === undefined || subnetIDs.length > 0)
    return [run.addToList(config, 'subnetIDs', subnet)];
  if (subnetID) {
    return [run.patchConfig(config, { spec: { subnetIDs: [subnetID, subnet] } })];
  }
  return subnetName ? [] : [run.patchConfig(config, { spec: { subnetIDs: [subnet] } })];
}

function selectServer(
  config: string,
  spec: OpenstackConfig['spec'] | undefined,
  server: string | undefined,
): readonly string[] {
  if (!server) return [];
  const { vmNames = [], vmSelector } = spec ?? {};
  if (spec === undefined || vmNames.length > 0) return [run.addToList(config, 'vmNames', server)];
  if (!vmSelector) return [run.patchConfig(config, { spec: { vmNames: [server] } })];
  const { metadata = {}, tags = [] } = vmSelector;
  const properties = Object.entries(metadata).flatMap(([key, value]) => [
    '--property',
    `${key}=${value}`,
  ]);
  const options = [...properties, ...tags.flatMap((tag) => ['--tag', tag])];
  return options.length > 0 ? [run.openstack('server', 'set', ...options, server)] : [];
}

const mostNics = 10;

function raiseLimit(
  config: string | undefined,
  spec: OpenstackConfig['spec'] | undefined,
): Partial<NextStep> | undefined {
  const limit = spec?.settings?.maxInterfaces ?? mostNics;
  if (config === undefined || limit >= mostNics) return undefined;
  const maxInterfaces = limit + 1;
  return {
    text: say('raise spec.settings.maxInterfaces:', 'spec.settings.maxInterfaces를 늘리십시오.'),
    commands: [run.patchConfig(config, { spec: { settings: { maxInterfaces } } })],
    preview: [run.multinic('plan', config, '--set', `maxInterfaces=${maxInterfaces}`)],
  };
}

function detach(port: About['port']): Partial<NextStep> {
  return {
    commands: ofPort(port, (id, server) => [run.openstack('server', 'remove', 'port', server, id)]),
  };
}
