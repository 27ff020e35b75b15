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
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState } from '../state.ts';
import { planApply } from './plan.ts';
import { planRemoval } from './plan-removal.ts';
import type { Bus } from './takeover.ts';
import { unitLines } from './unit.ts';

const mac = macOf(1);
const keyfile = '/etc/NetworkManager/system-connections/cloud-init-ens1.nmconnection';
const head = ['[connection]', 'id=cloud-init ens1', 'uuid=f8a5', 'type=ethernet'];

/** Profile in the form of cloud-init's renderer network-manager. */
const profile = (four: readonly string[], connection: readonly string[] = [], of = mac): string =>
  [
    ...head,
    'autoconnect-priority=120',
    ...connection,
    '',
    '[ethernet]',
    `mac-address=${of}`,
    '',
    '[ipv4]',
    ...four,
    '',
  ].join('\n');

const auto = ['method=auto'];
const fixed = [
  'method=manual',
  'address1=10.0.0.1/24',
  'gateway=10.0.0.254',
  'route1=10.9.0.0/16,10.0.0.254',
  'route1_options=table=101',
  'dns=10.0.0.53;',
];

const lease = {
  addresses: [address('ens1', '10.0.0.1/24', { temporary: true })],
  routes: [route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 16, metric: 101 })],
};
const configured = {
  addresses: [address('ens1', '10.0.0.1/24')],
  routes: [
    route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 4, metric: 101 }),
    route('10.9.0.0/16', 'ens1', { via: '10.0.0.254', protocol: 4, table: 101 }),
  ],
};

interface Site {
  readonly family: Family;
  readonly path: string;
  readonly text: string;
  readonly on?: Partial<Snapshot>;
  readonly state?: AgentState;
  readonly bus?: Bus;
  readonly profile?: 'own' | 'foreign' | 'none';
  readonly consent?: boolean;
  /** The primary link's profile; by default an Ethernet profile with a name server. */
  readonly main?: string;
}

const primary = '/etc/NetworkManager/system-connections/cloud-init-eth0.nmconnection';

async function inputOf({ family, path, text, on = {}, ...site }: Site) {
  const { state = emptyState, bus = 'present', profile: active = 'foreign', consent = true } = site;
  const read = (of: Pick<ConfigFile, 'path' | 'text'>) =>
    backends[family].read({ ...of, mode: 0o600 });
  const fixedMain = ['method=manual', 'address1=10.200.0.2/16', 'dns=10.200.0.53;'];
  const { main: own = profile(fixedMain, [], macOf(9)) } = site;
  const files = [await read({ path: primary, text: own }), await read({ path, text })];
  const seen = host([link(1, { up: true })], { ...on, files });
  const managed = { file: 'f8a5', names: [], nameServers: [] };
  const managedLinks = new Map(active === 'none' ? [] : [[11, { ...managed, profile: active }]]);
  return {
    ...input([entry(1)], { ...seen, managedLinks }),
    backend: backends[family],
    state,
    bus,
    request: request([entry(1)], {
      protocol: 6,
      ...(consent ? { existingConfiguration: 'Adopt' as const } : {}),
    }),
  };
}

/** Returns the refusal as `reason args`, or the adopted ids. */
async function outcome(site: Site): Promise<string> {
  const { units, refused } = planApply(await inputOf(site));
  const [nic] = refused;
  if (nic) return `${nic.refusal.reason} ${nic.refusal.args}`;
  return `adopts ${units[0]?.record?.adopted?.map(({ id }) => id).join(' ')}`;
}

const leased = { family: 'keyfile', path: keyfile, text: profile(auto), on: lease } as const;
const fixedSite = { ...leased, text: profile(fixed), on: configured } as const;

const ifcfgText = `BOOTPROTO=dhcp\nDEVICE=ens1\nHWADDR=${mac}\nONBOOT=yes\n`;
const ifcfgPath = '/etc/sysconfig/network-scripts/ifcfg-ens1';
const leasedByIfcfg = { family: 'ifcfg', path: ifcfgPath, text: ifcfgText, on: lease } as const;

describe('a NIC configured by an ifcfg file', () => {
  const edited = `BOOTPROTO=dhcp\n#MULTINIC# DEVICE=ens1\nHWADDR=${mac}\nONBOOT=no #MULTINIC# ONBOOT=yes\n`;

  // A host with keyfiles may also have ifcfg files.
  test.each(['ifcfg', 'keyfile'] as const)(
    'is adopted: the edit comes first, on %s hosts',
    async (family) => {
      const [unit] = planApply(await inputOf({ ...leasedByIfcfg, family })).units;
      const [first] = unit?.files.companions ?? [];
      expect(first).toMatchObject({ path: ifcfgPath, after: edited, foreign: 'edit' });
      expect(unit?.record?.adopted).toMatchObject([
        { path: ifcfgPath, owner: '0:0', lines: [2, 4] },
      ]);
      expect(unit?.files.commit.after).not.toMatch(/^DEVICE/m);
    },
  );

  test('keeps its record while edited, and is edited again after a new rendering', async () => {
    const [unit] = planApply(await inputOf(leasedByIfcfg)).units;
    const { record } = unit ?? {};
    const state = recordedBy(unit);
    const later = { ...leasedByIfcfg, state, consent: false };
    const [same] = planApply(await inputOf({ ...later, text: edited })).units;
    expect(same?.record?.adopted).toEqual(record?.adopted);
    expect(same?.files.companions.some(({ foreign }) => foreign)).toBe(false);
    const [again] = planApply(await inputOf(later)).units;
    expect(again?.files.companions[0]).toMatchObject({ path: ifcfgPath, after: edited });
  });

  test("gets the original back at the release, with a user's change", async () => {
    const [unit] = planApply(await inputOf(leasedByIfcfg)).units;
    const state = recordedBy(unit);
    const cleanup = request([], { action: 'cleanup' });
    for (const [text, original] of [
      [edited, ifcfgText],
      [edited.replace('dhcp', 'none'), ifcfgText.replace('dhcp', 'none')],
    ] as const) {
      const now = await inputOf({ ...leasedByIfcfg, on: {}, text, state, profile: 'none' });
      const [released] = planRemoval({ ...now, request: cleanup }).units;
      // The NIC's own files are missing here.
      expect(released?.files.commit).toMatchObject({ path: ifcfgPath, after: original });
      const nics = state.nics.map((nic) => ({ ...nic, adopted: [] }));
      const [byMac] = planRemoval({ ...now, state: { ...state, nics }, request: cleanup }).units;
      expect(byMac?.files.commit).toMatchObject({ path: ifcfgPath, after: original });
    }
  });

  test('has routes in a file of their own', async () => {
    const given = await inputOf({ ...leasedByIfcfg, on: fixedOn, text: fixedIfcfg });
    const path = '/etc/sysconfig/network-scripts/route-ens1';
    const text = 'ADDRESS0=10.9.0.0\nNETMASK0=255.255.0.0\nGATEWAY0=10.0.0.254\n';
    const routes = await backends.ifcfg.read({ path, text, mode: 0o600 });
    const withRoutes = { ...given.host, files: [...given.host.files, routes] };
    const [unit] = planApply({ ...given, host: withRoutes }).units;
    expect(unit?.record?.adopted?.map(({ id }) => id)).toEqual(['ifcfg-ens1', 'route-ens1']);
    expect(planApply(given).refused[0]?.refusal.args).toMatch(/NotFromFile/);
  });
});

const fixedIfcfg = `DEVICE=ens1\nHWADDR=${mac}\nIPADDR=10.0.0.1\nNETMASK=255.255.255.0\nGATEWAY=10.0.0.254\n`;
const fixedOn = {
  addresses: [address('ens1', '10.0.0.1/24')],
  routes: [
    route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 4, metric: 101 }),
    route('10.9.0.0/16', 'ens1', { via: '10.0.0.254', protocol: 4 }),
  ],
};

describe('a NIC configured by a NetworkManager profile', () => {
  test.each([leased, fixedSite])('is adopted with consent: $text', async (site) => {
    const [unit] = planApply(await inputOf(site)).units;
    expect(unit?.handover?.by).toBe('NetworkManager');
    expect(unit?.record?.adopted).toMatchObject([
      { path: keyfile, id: 'cloud-init-ens1.nmconnection' },
    ]);
    expect(unit && unitLines(unit)).toEqual(
      expect.arrayContaining([
        'ip link set dev ens1 name multinic0',
        'create /etc/systemd/network/05-multinic0.link',
        'create /etc/NetworkManager/system-connections/90-multinic0.nmconnection',
      ]),
    );
    const own = unit?.files.commit.after ?? '';
    expect(own).toContain(`mac-address=${mac}`);
    // cloud-init gives the NIC its former name at each boot.
    expect(own).not.toContain('interface-name');
    const read = await backends.keyfile.read({
      path: unit?.files.commit.path ?? '',
      text: own,
      mode: 0o600,
    });
    expect(read.own).toMatchObject({ mac, index: 0 });
  });

  test('waits for the next boot without the bus', async () => {
    const [unit] = planApply(await inputOf({ ...leased, bus: { missing: true } })).units;
    expect(unit?.atBoot?.reason).toBe('AdoptedAtBoot');
    expect(unit?.change.operations).toEqual([]);
  });

  test('is taken back after cloud-init renders and activates a profile, under any name', async () => {
    const [unit] = planApply(await inputOf(leased)).units;
    const state = recordedBy(unit);
    for (const path of [keyfile, keyfile.replace('ens1', 'multinic0')]) {
      const [again] = planApply(await inputOf({ ...leased, path, state, consent: false })).units;
      expect(again?.handover?.by).toBe('NetworkManager');
    }
  });

  test('returns to NetworkManager at the release, unless NetworkManager has our profile since boot', async () => {
    const [unit] = planApply(await inputOf(leased)).units;
    const state = recordedBy(unit);
    const on = { addresses: [address('ens1', '10.0.0.1/24')] };
    for (const [active, by] of [
      ['none', 'NetworkManager'],
      ['own', undefined],
    ] as const) {
      const now = await inputOf({ ...leased, on, state, profile: active });
      const { units } = planRemoval({ ...now, request: request([], { action: 'cleanup' }) });
      expect(units.map(({ handover }) => handover?.by)).toEqual([by]);
    }
  });

  const refusals: [string, Site, RegExp][] = [
    ['priority 999', { ...leased, text: profile(auto, ['autoconnect-priority=999']) }, /FileWins/],
    ['a syntax error', { ...leased, text: `${profile(auto)}[broken` }, /CannotParse/],
    [
      'a bond',
      { ...leased, text: profile(auto, ['master=bond0', 'slave-type=bond']) },
      /LinkInUse/,
    ],
    ['a bridge', { ...leased, text: profile(auto, ['port-type=bridge']) }, /LinkInUse/],
    [
      'a VLAN',
      { ...leased, text: '[connection]\nid=v\ntype=vlan\n\n[vlan]\nparent=ens1\nid=10\n' },
      /LinkInUse/,
    ],
    ['two NICs', { ...leased, text: profile(auto, [], `${mac};${macOf(2)}`) }, /OtherLinksToo/],
    [
      'an address from no file',
      {
        ...fixedSite,
        on: {
          ...configured,
          addresses: [...configured.addresses, address('ens1', '10.0.0.77/32')],
        },
      },
      /NotFromFile,?.*item=10.0.0.77\/32/,
    ],
  ];
  const ifcfgRefusals: [string, string, RegExp][] = [
    ['a bond', 'MASTER=bond0\nSLAVE=yes\n', /LinkInUse/],
    ['a bridge', 'BRIDGE=br0\n', /LinkInUse/],
    ['a VLAN', 'DEVICE=ens1.10\nVLAN=yes\n', /LinkInUse/],
    ['priority 998', 'AUTOCONNECT_PRIORITY=998\n', /FileWins/],
    ['NM_CONTROLLED=no', 'NM_CONTROLLED=no\n', /TurnedOff/],
  ];
  test.each(ifcfgRefusals)('in an ifcfg file with %s is refused', async (_, line, cause) => {
    expect(await outcome({ ...leasedByIfcfg, text: ifcfgText + line })).toMatch(cause);
  });

  test.each(refusals)('with %s is refused', async (_, site, cause) => {
    expect(await outcome(site)).toMatch(cause);
  });

  test.each([
    ['10.200.0.53', /^adopts/],
    ['', /OnlyNameServers/],
  ])('is adopted if a bond has name servers: "%s"', async (server, expected) => {
    const main = `[connection]\nid=bond0\ntype=bond\n\n[ipv4]\nmethod=manual\ndns=${server}\n`;
    expect(await outcome({ ...leased, main })).toMatch(expected);
  });

  test('with priority 999 on request only is adopted', async () => {
    const text = profile(auto, ['autoconnect-priority=999', 'autoconnect=false']);
    expect(await outcome({ ...leased, text })).toMatch(/^adopts/);
  });
});
