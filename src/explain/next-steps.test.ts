import { expect, it } from 'vitest';
import type { ReasonRow } from '../api/reasons/reason-row.ts';
import { reasons } from '../api/reasons.ts';
import { nextFor } from './next-steps.ts';

const about = {
  config: 'team/net',
  spec: {
    subnetIDs: ['sub-a'],
    vmNames: ['srv-1'],
    settings: { maxInterfaces: 3 },
  } as never,
  port: { portId: 'port-1', deviceId: 'srv-2', addresses: [{ subnetId: 'sub-b', ip: '10.0.0.1' }] },
  nodeName: 'worker-1',
  nic: { portId: 'port-1', code: 'ForeignAddress', args: 'link=ens8 address=10.7.0.1/24' },
  job: 'job-1',
  provider: 'biz-1',
};

const withCommand = Object.entries<ReasonRow>(reasons).filter(([, row]) => row.nextStep);

it.each(withCommand)('next step for %s has a command without placeholders', (reason) => {
  const { commands, preview } = nextFor(reason, about);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of [...commands, ...preview]) {
    expect(command).not.toMatch(/\{\w+\}|undefined/);
  }
});

it.each(withCommand)(
  'next step for %s without facts has no command with placeholders',
  (reason) => {
    for (const command of nextFor(reason, {}).commands) expect(command).not.toMatch(/\{\w+\}/);
  },
);

it.each([
  ['listed subnets', { subnetIDs: ['sub-a'] }, /--type json .*subnetIDs.*"value":"sub-b"/],
  ['one subnet', { subnetID: 'sub-a' }, /\{"spec":\{"subnetIDs":\["sub-a","sub-b"\]\}\}/],
  ['no subnet', {}, /\{"spec":\{"subnetIDs":\["sub-b"\]\}\}/],
])('SubnetNotSelected selects the subnet in a spec with %s', (_, spec, command) => {
  expect(nextFor('SubnetNotSelected', { ...about, spec: spec as never }).commands).toEqual([
    expect.stringMatching(command),
  ]);
});

it('SubnetNotSelected has no command for a spec with a subnet name', () => {
  const spec = { subnetName: 'lan' } as never;
  expect(nextFor('SubnetNotSelected', { ...about, spec }).commands).toEqual([]);
});

it('ServerNotSelected sets metadata and tags from the selector on the server', () => {
  const spec = { vmSelector: { metadata: { role: 'a b' }, tags: ['gpu'] } } as never;
  expect(nextFor('ServerNotSelected', { ...about, spec }).commands).toEqual([
    "openstack server set --property 'role=a b' --tag gpu srv-2",
  ]);
});

it('a raised limit is a number in the patch', () => {
  const { commands } = nextFor('InterfaceLimitExceeded', about);
  expect(commands).toEqual([expect.stringContaining('"maxInterfaces":4}')]);
});

it.each([
  ['ForeignAddress', ['ip addr del 10.7.0.1/24 dev ens8']],
  ['AddressElsewhere', ['ip addr del 10.7.0.1/24 dev ens8']],
  ['NameTaken', []],
])('NICInUse with code %s has the commands %j', (code, commands) => {
  const nic = { ...about.nic, code };
  expect(nextFor('NICInUse', { nic }).commands).toEqual(commands);
});

it('RemovalHeld uses the action for the code', () => {
  const { text } = nextFor('RemovalHeld', { config: 'team/net', code: 'SideEffect' });
  expect(text).toEqual(reasons.SideEffect.action);
});

it.each([
  ['ViolaUnavailable', ['kubectl get pods -A -l app.kubernetes.io/component=viola']],
  [
    'ClusterNotRegistered',
    ['kubectl multinic register-cluster biz-1 --business-kubeconfig biz-1.kubeconfig'],
  ],
  ['TokenRefused', []],
  ['ClusterUnreachable', []],
  ['NodeRefused', []],
] as const)('ViolaPostError with code %s has a next step by cause', (code, commands) => {
  const next = nextFor('ViolaPostError', { ...about, code });
  expect(next.commands).toEqual(commands);
  expect(next.text).not.toEqual(reasons.ViolaPostError.action);
  expect(`${next.text.en}${next.text.ko}`).not.toMatch(/\{\w+\}/);
});
