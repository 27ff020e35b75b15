import { expect, test } from 'vitest';
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
import { backends } from '../backends/backends.ts';
import type { ConfigFile, Link, Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { planApply } from './plan.ts';
import { planRemoval } from './plan-removal.ts';
import { isDone, type Unit } from './unit.ts';

const cloudInit = '/etc/netplan/50-cloud-init.yaml';
const ifcfg = '/etc/sysconfig/network-scripts/ifcfg-eth1';

const definition = (id: string, mac: string, servers = ''): string =>
  `    ${id}: {match: {macaddress: "${mac}"}, dhcp4: true${servers && `, nameservers: {addresses: [${servers}]}`}}`;

const netplanFile = (...definitions: readonly string[]): Promise<ConfigFile> =>
  readFile('netplan', cloudInit, ['network:', '  ethernets:', ...definitions, ''].join('\n'));

const readFile = (family: 'netplan' | 'ifcfg', path: string, text: string) =>
  backends[family].read({ path, text, mode: 0o600 });

interface Site {
  readonly family?: 'netplan' | 'ifcfg';
  readonly files: readonly ConfigFile[];
  readonly links?: readonly Link[];
  readonly on?: Partial<Snapshot>;
  readonly nics?: readonly number[];
  readonly state?: AgentState;
  readonly consent?: boolean;
}

/** The primary NIC, with link index 2, has no name servers. */
function inputOf({ family = 'netplan', nics = [1], ...site }: Site): PlanInput {
  const { links = nics.map((nic) => link(nic, { up: true })), on = {}, files } = site;
  const entries = nics.map((nic) => entry(nic));
  const consent = site.consent === false ? {} : { existingConfiguration: 'Adopt' as const };
  return {
    ...input(entries, host(links, { ...on, files })),
    backend: backends[family],
    state: site.state ?? emptyState,
    bus: 'present',
    request: request(entries, { protocol: 6, ...consent }),
  };
}

/** Returns the site after NIC 1 was adopted on netplan, with all changes done. */
async function adoptedSite(): Promise<Site> {
  const foreign = await netplanFile(definition('ens1', macOf(1)));
  const [unit] = planApply(inputOf({ files: [foreign] })).units;
  const changes = unit ? [...unit.files.companions, unit.files.commit] : [];
  const own = changes.map(({ path, after }) => readFile('netplan', path, after ?? ''));
  return {
    files: [foreign, ...(await Promise.all(own))],
    state: recordedBy(unit),
    consent: false,
    ...kernelAfter(unit),
  };
}

function kernelAfter(unit: Unit | undefined): Pick<Site, 'links' | 'on'> {
  const { link: after, rules = [] } = unit?.after ?? {};
  if (!after) throw new Error('the NIC was not adopted');
  const { name, mtu, addressMode, settings, addresses, routes } = after;
  const more = addressMode === undefined ? {} : { addressMode };
  return {
    links: [link(1, { name, mtu, up: true, ...more })],
    on: {
      addresses: addresses.map(({ cidr, broadcast }) =>
        address(name, cidr, broadcast ? { broadcast } : {}),
      ),
      routes: routes.map(({ to, ...rest }) => route(to, name, rest)),
      rules: rules.map((rule) => ({ family: 4, opaque: false, ...rule })),
      settings: new Map([[name, settings]]),
    },
  };
}

test('an adopted NIC stays configured when a user adds a VLAN, or a further file for the NIC', async () => {
  const site = await adoptedSite();
  const vlan = link(5, { name: 'vlan10', kind: 'vlan', lower: 'multinic0' });
  const path = '/etc/netplan/60-site.yaml';
  const later = await readFile('netplan', path, 'network: {ethernets: {multinic0: {mtu: 9000}}}\n');
  const withVlan = { ...site, links: [...(site.links ?? []), vlan] };
  const withFile = { ...site, files: [...site.files, later] };
  for (const each of [site, withVlan, { ...withVlan, consent: true }, withFile]) {
    const { units, refused } = planApply(inputOf(each));
    expect([units.map(isDone), refused]).toEqual([[true], []]);
    expect(recordedBy(units[0]).nics[0]?.adopted).toMatchObject([{ path: cloudInit, id: 'ens1' }]);
  }
});

test("a lease on an adopted NIC stays while the lease has the node's only default route", async () => {
  const site = await adoptedSite();
  const given = inputOf(site);
  const lease = route('0.0.0.0/0', 'multinic0', { via: '10.0.0.254', protocol: 16, metric: 100 });
  const own = given.host.routes.filter(
    ({ to, links }) => to !== lease.to || !links.includes('eth0'),
  );
  for (const [routes, isKept] of [
    [[...given.host.routes, lease], false],
    [[...own, lease], true],
  ] as const) {
    const [unit] = planApply({ ...given, host: { ...given.host, routes } }).units;
    expect(unit && isDone(unit)).toBe(isKept);
  }
});

test("the node's only name servers stay if two NICs have some", async () => {
  const first = definition('ens1', macOf(1), '10.0.0.53');
  const second = definition('ens2', macOf(2), '10.0.0.54');
  const adopted = recordedBy(
    planApply(inputOf({ files: [await netplanFile(definition('ens1', macOf(1)))] })).units[0],
  );
  const files = [await netplanFile(first, second)];
  for (const state of [emptyState, adopted]) {
    const { units, refused } = planApply(inputOf({ files, nics: [1, 2], state }));
    expect(units.map(({ target }) => target.index)).toEqual(state === adopted ? [0] : []);
    expect(refused.at(-1)?.refusal.args).toMatch(/cause=OnlyNameServers/);
  }
});

test('a mask leaves out the new NIC name if a definition for a different link has this id', async () => {
  for (const [mac, isMasked] of [
    [macOf(1), true],
    [macOf(7), false],
  ] as const) {
    const files = [await netplanFile(definition('ens1', macOf(1)), definition('multinic0', mac))];
    const [unit] = planApply(inputOf({ files })).units;
    const mask = unit?.files.companions.find(({ path }) => path.endsWith('-foreign.yaml'))?.after;
    expect(mask).toContain('"ens1":');
    expect(mask?.includes('"multinic0":')).toBe(isMasked);
  }
});

test('an edited ifcfg file is undone at the release after a second NIC got the former name', async () => {
  const text = 'BOOTPROTO=dhcp\nDEVICE=eth1\nONBOOT=yes\n';
  const first = {
    family: 'ifcfg',
    files: [await readFile('ifcfg', ifcfg, text)],
    links: [link(1, { name: 'eth1', up: true })],
  } as const;
  const [unit] = planApply(inputOf(first)).units;
  const [edit] = unit?.files.companions ?? [];
  const later = {
    ...first,
    files: [await readFile('ifcfg', ifcfg, edit?.after ?? '')],
    links: [link(1, { name: 'multinic0', up: true }), link(6, { name: 'eth1' })],
  };
  const [again] = planApply(inputOf({ ...later, state: recordedBy(unit) })).units;
  const released = planRemoval({
    ...inputOf({ ...later, state: recordedBy(again) }),
    request: request([], { action: 'cleanup' }),
  });
  expect(released.units[0]?.files.commit).toMatchObject({ path: ifcfg, after: text });
});
