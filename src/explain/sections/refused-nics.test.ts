import { expect, it } from 'vitest';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { nic, node } from '../testing/healthy.ts';
import { leasedByCloudInit, observedNode } from '../testing/observed.ts';
import { refusedNics } from './refused-nics.ts';

/** Returns a node with two refused NICs. */
function refusing(
  number: number,
  more: Partial<NicView>,
  ofNode: Partial<NodeView> = {},
): NodeView {
  const nics = ([0, 1] as const).map((index) => nic(number, index, { state: 'Failed', ...more }));
  return node(number, {
    ready: 'False',
    state: 'Failed',
    reason: more.reason ?? '',
    nics,
    ...ofNode,
  });
}

function many(count: number, of: (number: number) => NodeView): NodeView[] {
  return Array.from({ length: count }, (_, number) => of(number));
}

const file = '/etc/netplan/50-cloud-init.yaml';
const byFile = (section: string) => ({ reason: 'NICInUse', found: { file, section } });
const leased = { ...leasedByCloudInit, state: 'Failed' };
const foreign = {
  reason: 'NICInUse',
  code: 'ForeignAddress',
  message: 'link ens8 has 10.7.0.1/24',
};
const cluster = 'biz-1';
const others = 'worker-0, worker-1, worker-2 and 17 more';
const macvlan = { ...byFile('ethernets.ens5.dhcp4'), code: 'ForeignReceiver' };

const adoptable = (adoption: string, path = file) => ({
  ...leased,
  found: { ...leasedByCloudInit.found, file: path, adoption },
});

const networkdFile = (slot: number) =>
  adoptable('Now', `/etc/systemd/network/10-cloud-init-ens${slot}.network`);

/** Returns a node whose cloud-init wrote a file per NIC. */
const withFilePerNic = (number: number) =>
  refusing(number, leased, {
    nics: [nic(number, 0, networkdFile(4)), nic(number, 1, networkdFile(5))],
  });

type Row = readonly [string, readonly NodeView[], readonly (readonly [string, string, RegExp])[]];

it.each<Row>([
  ['no refused NIC', [node(1)], []],
  [
    'one node with a file',
    [refusing(1, leased)],
    [['error', 'biz-1/worker-1', /^multinic0: .*50-cloud-init.*; multinic1: /]],
  ],
  [
    '20 nodes with one file',
    many(20, (number) => refusing(number, byFile('ethernets.ens4.dhcp4'))),
    [
      [
        'error',
        cluster,
        new RegExp(
          `^20 nodes: 50-cloud-init.yaml configures 40 NICs by ethernets.ens4.dhcp4: ${others}$`,
        ),
      ],
    ],
  ],
  [
    '4 nodes with one file and four stanzas',
    many(4, (number) => refusing(number, byFile(`ethernets.ens${number}`))),
    [
      [
        'error',
        cluster,
        /by ethernets.ens0, ethernets.ens1, ethernets.ens2, …: worker-0, worker-1, worker-2 and 1 more$/,
      ],
    ],
  ],
  [
    'a file that only the values of the message name',
    many(2, (number) => refusing(number, { reason: 'NICInUse', args: 'path=50-cloud-init.yaml' })),
    [['error', cluster, /^2 nodes: 50-cloud-init.yaml configures 4 NICs: worker-0, worker-1$/]],
  ],
  [
    '5,000 nodes with one cause and no file',
    many(5_000, (number) => refusing(number, foreign)),
    [
      [
        'error',
        cluster,
        /^5000 nodes: 10000 NICs .* worker-0\/multinic0: link ens8 has 10.7.0.1\/24$/,
      ],
    ],
  ],
  [
    'a file that the agent cannot read',
    many(2, (number) => refusing(number, { ...leased, code: 'FileUnreadable' })),
    [['error', cluster, /^2 nodes: 4 NICs with this reason/]],
  ],
  [
    'macvlans of Pods on NICs with a file',
    many(2, (number) => refusing(number, macvlan)),
    [['error', cluster, /^2 nodes: 4 NICs with this reason/]],
  ],
  [
    'another reason',
    many(2, (number) => refusing(number, { reason: 'TableInUse' })),
    [
      ['error', 'biz-1/worker-0', /multinic0/],
      ['error', 'biz-1/worker-1', /multinic0/],
    ],
  ],
  [
    'two business clusters',
    ['biz-1', 'biz-2'].flatMap((providerId) =>
      many(2, (number) => refusing(number, leased, { providerId })),
    ),
    [
      ['error', 'biz-1', /^2 nodes/],
      ['error', 'biz-2', /^2 nodes/],
    ],
  ],
  [
    'a file per NIC, and the same consent for all files',
    [...many(3, withFilePerNic), refusing(3, adoptable('AtBoot'))],
    [
      [
        'error',
        cluster,
        /^4 nodes: 10-cloud-init-ens4.network, 10-cloud-init-ens5.network, 50-cloud-init.yaml configure 8 NICs: worker-0, worker-1, worker-2 and 1 more$/,
      ],
    ],
  ],
  [
    'observed and failed nodes',
    [...many(2, (number) => observedNode(number)), refusing(3, leased), refusing(4, leased)],
    [
      ['warning', cluster, /^2 nodes: 50-cloud-init.yaml configures 2 NICs/],
      ['error', cluster, /^2 nodes: 50-cloud-init.yaml configures 4 NICs/],
    ],
  ],
  ['a reason of the whole node', [refusing(1, leased, { reason: 'JobFailed' })], []],
])('nodes share a finding per cause: %s', (_, nodes, expected) => {
  const findings = refusedNics(nodes);
  expect(findings.map(({ severity, subject }) => [severity, subject])).toEqual(
    expected.map(([severity, subject]) => [severity, subject]),
  );
  for (const [at, [, , text]] of expected.entries()) {
    expect(findings[at]?.evidence.en).toMatch(text);
    expect(findings[at]?.evidence.ko).not.toBe('');
  }
});

it('a shared finding lists every NIC with the file for JSON', () => {
  const [finding] = refusedNics(many(20, (number) => observedNode(number)));
  expect(finding?.affected).toHaveLength(20);
  expect(finding?.affected?.[19]).toEqual({
    node: 'biz-1/worker-19',
    nic: 'multinic1',
    file,
    section: 'ethernets.ens5.dhcp4',
  });
});

const consented = { existingConfiguration: 'Adopt' } as const;

it.each([
  ['of which all are adoptable', [adoptable('Now'), adoptable('AtBoot')], {}, '8 of 8 NICs'],
  ['of which some are adoptable', [adoptable('Now'), adoptable('NodeLink')], {}, '4 of 8 NICs'],
  ['of which none is adoptable', [leased, adoptable('FileWins')], {}, undefined],
  ['with consent', [adoptable('Now'), adoptable('AtBoot')], consented, undefined],
] as const)('a finding about NICs %s has the patch for the consent', (_, kinds, ofNode, text) => {
  const nodes = kinds.flatMap((kind, at) => [
    refusing(2 * at, kind, ofNode),
    refusing(2 * at + 1, kind, ofNode),
  ]);
  const [finding] = refusedNics(nodes);
  const { text: step, commands, preview } = finding?.next ?? {};
  if (text === undefined) {
    expect(commands?.join()).not.toContain('Adopt');
    return;
  }
  expect(step?.en).toContain(`${text} can be adopted`);
  expect(step?.en).toContain('at its next boot');
  const patch = `'{"spec":{"settings":{"existingConfiguration":"Adopt"}}}'`;
  expect(commands).toEqual([
    expect.stringMatching(/^kubectl -n \S+ patch osc \S+ --type merge -p /),
  ]);
  expect(commands?.[0]).toContain(patch);
  expect(preview?.[0]).toMatch(/^kubectl multinic plan \S+ --set existingConfiguration=Adopt$/);
});

it.each([
  ['without consent', {}],
  ['with consent', consented],
])('a finding about observed nodes %s has the patch with mode Apply', (_, ofNode) => {
  const { found } = adoptable('Now');
  const nodes = many(2, (number) => ({ ...observedNode(number, { found }), ...ofNode }));
  const [finding] = refusedNics(nodes);
  const { text, commands, preview } = finding?.next ?? {};
  expect(text?.en).toContain('consent and leave mode Observe');
  const patch = `'{"spec":{"settings":{"mode":"Apply","existingConfiguration":"Adopt"}}}'`;
  expect(commands).toEqual([expect.stringContaining(patch)]);
  expect(preview).toEqual([
    expect.stringMatching(/ plan \S+ --set mode=Apply --set existingConfiguration=Adopt$/),
  ]);
});

it.each([
  [file, 'stanza'],
  ['/etc/systemd/network/10-cloud-init-ens5.network', '[Match]'],
  ['/etc/NetworkManager/system-connections/cloud-init-eth1.nmconnection', 'profile'],
  ['/etc/sysconfig/network-scripts/ifcfg-eth1', 'remove /etc/sysconfig'],
  ['50-cloud-init.yaml', 'stanza'],
  ['/etc/network/interfaces', 'configuration of the NIC'],
])('next step for %s names the path, and then checks a node', (path, word) => {
  const [finding] = refusedNics(many(2, (n) => refusing(n, { ...leased, found: { file: path } })));
  const { text, commands } = finding?.next ?? {};
  expect(text?.en).toContain(word);
  expect(text?.en).toContain(path);
  expect(text?.ko).toContain(path);
  expect(commands).toEqual(['kubectl multinic diff biz-1/worker-0']);
});
