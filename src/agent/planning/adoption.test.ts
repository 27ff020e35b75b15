import { describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  input,
  link,
  macOf,
  recordedBy,
  request,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import type { Family } from '../../api/job.ts';
import { backends } from '../backends/backends.ts';
import type { ConfigFile, ManagedLink, Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState } from '../state.ts';
import { withFound } from './found.ts';
import { planAll, planApply } from './plan.ts';
import { planRemoval } from './plan-removal.ts';
import type { Bus } from './takeover.ts';
import { isDone, unitLines } from './unit.ts';

const mac = macOf(1);
const cloudInit = '/etc/netplan/50-cloud-init.yaml';
const generated = '/run/systemd/network/10-netplan-ens1.network';

const read = (family: Family, path: string, text: string): Promise<ConfigFile> =>
  backends[family].read({ path, text, mode: 0o600 });

const ethernets = (id: string, ...lines: readonly string[]): string =>
  ['network:', '  version: 2', '  ethernets:', `    ${id}:`, ...lines, ''].join('\n');

const matched = ['      match:', `        macaddress: "${mac}"`, '      set-name: ens1'];
const dhcp = ethernets('ens1', ...matched, '      dhcp4: true');

const lease = {
  addresses: [address('ens1', '10.0.0.1/24', { temporary: true })],
  routes: [route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 16, metric: 100 })],
};

interface Site {
  readonly family?: Family;
  readonly files?: readonly ConfigFile[];
  readonly on?: Partial<Snapshot>;
  readonly consent?: boolean;
  readonly state?: AgentState;
  readonly bus?: Bus;
  /** networkd's view of the link, by file and names. */
  readonly managed?: ManagedLink;
}

const managedByFile = { file: generated, names: ['ens1'], nameServers: [] };

function inputOf({ family = 'netplan', files = [], on = {}, ...site }: Site) {
  const { consent = true, state = emptyState, bus = 'present' } = site;
  const { managed = managedByFile } = site;
  const wanted = input([entry(1)], {
    ...host([link(1, { up: true })], { ...on, files }),
    managedLinks: new Map([
      [
        2,
        {
          file: '/run/systemd/network/10-netplan-eth0.network',
          names: [],
          nameServers: ['10.200.0.53'],
        },
      ],
      [11, managed],
    ]),
  });
  const more = consent ? { existingConfiguration: 'Adopt' as const } : {};
  return {
    ...wanted,
    backend: backends[family],
    state,
    bus,
    request: request([entry(1)], { protocol: 6, ...more }),
  };
}

/** Returns the refusal as `reason code args`, or the adopted ids. */
function outcome(site: Site): string {
  const { units, refused } = planApply(inputOf(site));
  const [nic] = refused;
  if (nic) return `${nic.refusal.reason} ${nic.refusal.code} ${nic.refusal.args}`;
  const [unit] = units;
  return `adopts ${unit?.record?.adopted?.map(({ id }) => id).join(' ')}`;
}

function adoptionOn(site: Site): string | undefined {
  const given = inputOf(site);
  const results = planApply(given).refused.map(
    ({ target }) =>
      ({ ...target, name: 'ens1', state: 'Failed', reason: 'NICInUse', message: '' }) as const,
  );
  return withFound(results, given)[0]?.found?.adoption;
}

describe('a NIC configured by cloud-init on netplan', () => {
  test('is refused without consent, and could be adopted', async () => {
    const site = { files: [await read('netplan', cloudInit, dhcp)], on: lease, consent: false };
    expect(outcome(site)).toMatch(/^LeasedByHost LeasedAddress/);
    expect(adoptionOn(site)).toBe('Now');
    expect(adoptionOn({ ...site, bus: { missing: true } })).toBe('AtBoot');
  });

  test('is adopted with consent: the lease goes, the definition is masked', async () => {
    const files = [await read('netplan', cloudInit, dhcp)];
    const [unit] = planApply(inputOf({ files, on: lease })).units;
    expect(unit && unitLines(unit)).toEqual(
      expect.arrayContaining([
        'ip link set dev ens1 name multinic0',
        'ip route del default via 10.0.0.254 dev multinic0 table 254 proto 16 scope 0 metric 100'.replace(
          'default',
          '0.0.0.0/0',
        ),
        'create /etc/netplan/90-multinic0-foreign.yaml',
        'create /etc/netplan/90-multinic0.yaml',
      ]),
    );
    expect(unit?.handover).toEqual({ by: 'networkd', names: ['ens1'] });
    expect(unit?.record?.adopted).toMatchObject([{ path: cloudInit, id: 'ens1' }]);
    expect(unit?.record?.owned?.routes).toEqual([]);
  });

  test('waits for the next boot without the bus, or if networkd finds the link by MAC', async () => {
    const files = [await read('netplan', cloudInit, dhcp)];
    const cases: Site[] = [
      { bus: { missing: true } },
      { bus: { problem: 'no answer within 5 s' } },
      { managed: { ...managedByFile, names: [] } },
    ];
    for (const site of cases) {
      const [unit] = planApply(inputOf({ files, on: lease, ...site })).units;
      expect(unit?.atBoot?.reason).toBe('AdoptedAtBoot');
      expect(unit && unitLines(unit)).toEqual([
        'create /etc/netplan/90-multinic0-foreign.yaml',
        'create /etc/netplan/90-multinic0.yaml',
      ]);
      const state = recordedBy(unit);
      const leave = { ...inputOf({ files, on: lease, ...site, state }) };
      const released = planRemoval({ ...leave, request: request([], { action: 'cleanup' }) });
      expect(released.units.map(unitLines)).toEqual([[]]);
    }
  });

  test('accepts the alternative name ens1(slot', async () => {
    const { host: on, ...given } = inputOf({ files: [await read('netplan', cloudInit, dhcp)] });
    const links = on.links.map((each) => ({ ...each, altNames: ['ens1(slot'] }));
    expect(planApply({ ...given, host: { ...on, links } }).units).toHaveLength(1);
  });

  test('stays adopted after consent ends, and after a new rendering under the new name', async () => {
    const [unit] = planApply(
      inputOf({ files: [await read('netplan', cloudInit, dhcp)], on: lease }),
    ).units;
    const state = recordedBy(unit);
    const again = ethernets(
      'multinic0',
      ...matched.slice(0, 2),
      '      set-name: multinic0',
      '      dhcp4: true',
    );
    for (const text of [dhcp, again]) {
      const files = [await read('netplan', cloudInit, text)];
      expect(outcome({ files, state, consent: false })).toMatch(/^adopts (ens1|multinic0)$/);
    }
  });
});

describe('a NIC with static addresses, a gateway and rules', () => {
  const fixed = [
    '      addresses: [10.0.0.1/24, 10.0.0.9/24]',
    '      gateway4: 10.0.0.254',
    '      routes: [{to: 10.9.0.0/16, via: 10.0.0.254, table: 101}]',
    '      routing-policy: [{from: 10.0.0.1, table: 101, priority: 5}]',
    '      nameservers: {addresses: [10.0.0.53]}',
  ];
  const on = {
    addresses: [address('ens1', '10.0.0.1/24'), address('ens1', '10.0.0.9/24')],
    routes: [
      route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 4, metric: 50 }),
      route('10.9.0.0/16', 'ens1', { via: '10.0.0.254', protocol: 4, table: 101 }),
    ],
  };

  test('loses exactly the state in the stanza', async () => {
    const files = [await read('netplan', cloudInit, ethernets('ens1', ...matched, ...fixed))];
    expect(outcome({ files, on })).toBe('adopts ens1');
    const stranger = { ...on, addresses: [...on.addresses, address('ens1', '10.0.0.77/32')] };
    expect(outcome({ files, on: stranger })).toMatch(/cause=NotFromFile item=10.0.0.77\/32/);
    expect(adoptionOn({ files, on: stranger })).toBe('NotFromFile');
  });
});

describe('a NIC outside the rules is refused by file and cause', () => {
  const cases: [string, Family, string, string, Partial<Snapshot>, RegExp][] = [
    [
      'two NICs in a pattern',
      'netplan',
      cloudInit,
      ethernets('all', '      match: {name: "en*"}', '      dhcp4: true'),
      {},
      /FileMatchesNic pattern=en\*/,
    ],
    ['a file after ours', 'netplan', '/etc/netplan/99-site.yaml', dhcp, {}, /cause=FileWins/],
    ['a syntax error', 'netplan', cloudInit, `${dhcp}   -${mac}: [`, {}, /cause=CannotParse/],
    [
      'activation-mode off',
      'netplan',
      cloudInit,
      ethernets(
        'ens1',
        ...matched,
        '      activation-mode: off'.replace('off', '"off"'),
        '      dhcp4: true',
      ),
      {},
      /cause=TurnedOff/,
    ],
    [
      'a bond port',
      'netplan',
      cloudInit,
      `${ethernets('ens1', ...matched)}  bonds:\n    bond0: {interfaces: [ens1]}\n`,
      {},
      /cause=LinkInUse/,
    ],
    [
      'a physical function',
      'netplan',
      cloudInit,
      `${ethernets('ens1', ...matched)}    vf0: {link: ens1}\n`,
      {},
      /cause=LinkInUse/,
    ],
    [
      'a VRF port',
      'netplan',
      cloudInit,
      `${ethernets('ens1', ...matched)}  vrfs:\n    blue: {table: 7, interfaces: [ens1]}\n`,
      {},
      /cause=LinkInUse/,
    ],
    [
      'a networkd bond port before the bond exists',
      'networkd',
      '/etc/systemd/network/10-x.network',
      `[Match]\nMACAddress=${mac}\n[Network]\nBond=bond0\n`,
      {},
      /cause=LinkInUse/,
    ],
    [
      'a networkd file before ours',
      'networkd',
      '/etc/systemd/network/01-site.network',
      `[Match]\nMACAddress=${mac}\n[Network]\nDHCP=yes\n`,
      {},
      /cause=FileWins/,
    ],
    [
      'two MACs',
      'networkd',
      '/etc/systemd/network/10-x.network',
      `[Match]\nMACAddress=${mac} ${macOf(2)}\n[Network]\nDHCP=yes\n`,
      {},
      /cause=OtherLinksToo/,
    ],
    [
      'a networkd link kept down',
      'networkd',
      '/etc/systemd/network/10-x.network',
      `[Match]\nMACAddress=${mac}\n[Link]\nActivationPolicy=down\n`,
      {},
      /cause=TurnedOff/,
    ],
  ];
  test.each(cases)('%s', async (_, family, path, text, on, cause) => {
    expect(outcome({ family, files: [await read(family, path, text)], on })).toMatch(cause);
  });

  test("the node's only name servers", async () => {
    const files = [await read('netplan', cloudInit, dhcp)];
    const given = inputOf({ files, on: lease });
    const managedLinks = new Map([[11, { ...managedByFile, nameServers: ['10.0.0.53'] }]]);
    const { refused } = planApply({ ...given, host: { ...given.host, managedLinks } });
    expect(refused[0]?.refusal.args).toMatch(/cause=OnlyNameServers/);
  });

  test("the node's only default route", async () => {
    const files = [await read('netplan', cloudInit, dhcp)];
    const given = inputOf({ files, on: lease });
    const routes = given.host.routes.filter(
      ({ to, links }) => to !== '0.0.0.0/0' || !links.includes('eth0'),
    );
    const { refused } = planApply({ ...given, host: { ...given.host, routes } });
    expect(refused[0]?.refusal.reason).toBe('PrimaryNIC');
  });
});

describe('a NIC configured by networkd', () => {
  const path = '/etc/systemd/network/10-cloud-init-ens1.network';
  const text = `[Match]\nMACAddress=${mac}\nName=ens1\n\n[Network]\nDHCP=ipv4\n`;

  test('gets files before the foreign file', async () => {
    const files = [await read('networkd', path, text)];
    const managed = { file: path, names: ['ens1'], nameServers: [] };
    const [unit] = planApply(inputOf({ family: 'networkd', files, on: lease, managed })).units;
    expect(unit && unitLines(unit)).toEqual(
      expect.arrayContaining([
        'create /etc/systemd/network/05-multinic0.link',
        'create /etc/systemd/network/05-multinic0.network',
      ]),
    );
    expect(unit?.record?.adopted).toMatchObject([{ path, id: '10-cloud-init-ens1.network' }]);
  });
});

test('a released NIC keeps the foreign file, and networkd configures the link again', async () => {
  const files = [await read('netplan', cloudInit, dhcp)];
  const [unit] = planApply(inputOf({ files, on: lease })).units;
  const state = recordedBy(unit);
  const own = (unit ? [...unit.files.companions, unit.files.commit] : []).map(({ path, after }) =>
    read('netplan', path, after ?? ''),
  );
  const on = {
    ...host([link(1, { name: 'multinic0', up: true })], {
      addresses: [address('multinic0', '10.0.0.1/24')],
      files: [...files, ...(await Promise.all(own))],
    }),
    managedLinks: new Map([[11, { names: [], nameServers: [] }]]),
  };
  const given = { ...inputOf({ state }), host: on };
  const { removal } = planAll({ ...given, request: request([], { action: 'cleanup' }) });
  const [released] = removal.units;
  expect(released && isDone(released)).toBe(false);
  expect(released && unitLines(released)).toEqual(
    expect.arrayContaining([
      'ip link set dev multinic0 name ens1',
      'remove /etc/netplan/90-multinic0.yaml',
      'remove /etc/netplan/90-multinic0-foreign.yaml',
    ]),
  );
  expect(released?.handover).toEqual({ by: 'networkd', names: [] });
});
