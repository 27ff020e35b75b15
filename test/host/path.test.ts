import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { run as runCommand, ip as runIp } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { scaled } from '../speed.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });
const dual = nic(0, mac, '10.0.0.11/16', {
  addresses: ['10.0.0.11/16', 'fd00:5::11/64'],
  gateway: '10.0.0.254',
  gateway6: 'fd00:5::1',
});

const asked = (more: Partial<JobRequest> = {}, entry = wanted) =>
  request([entry], { protocol: 5, ...more });

let host: NamespaceHost;
afterEach(() => host.down());

/** Listens in the fabric; the caller ends the process. */
async function listen({ fabric }: NamespaceHost, at: { address: string; port: number }) {
  const server = `require('node:net').createServer().listen(${at.port}, '${at.address}', () => console.log('ready'))`;
  const args = [`--net=/run/netns/${fabric}`, '--', process.execPath, '-e', server];
  const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** Runs `ip` commands on the host. */
async function ip(...commands: readonly string[]): Promise<void> {
  for (const command of commands) await host.ip(...command.split(' '));
}

/** Returns the NIC's result, with the outcome and warnings. */
async function run(jobRequest: JobRequest) {
  const { result } = await runAgent(host, jobRequest);
  const [found] = result?.nics ?? [];
  const { state, reason, message = '', code, args } = found ?? {};
  return {
    outcome: result?.outcome,
    warnings: result?.warnings,
    state,
    reason,
    message,
    code,
    args,
  };
}

const isRight = { outcome: 'ok', state: 'Configured', reason: 'Configured', message: '' };

/** Foreign rules that lead packets from the NIC's address elsewhere. */
const bypasses: readonly (readonly [string, readonly string[], RegExp, string])[] = [
  [
    'rule 9000 from the address refuses packets',
    ['rule add pref 9000 from 10.0.0.11 unreachable'],
    /^rule 9000 from 10\.0\.0\.11 drops packets from 10\.0\.0\.11 to 10\.0\.0\.254$/,
    'RuleDropsPackets',
  ],
  [
    'a rule to main comes first',
    ['rule add pref 9000 lookup main'],
    /^rule 9000 from all lookup 254 sends packets from 10\.0\.0\.11 to 198\.51\.100\.1 by eth0/,
    'RuleToOtherLink',
  ],
  [
    'a VPN moved the rule to main',
    ['rule add pref 5000 lookup main', 'rule del pref 32766'],
    /^rule 5000 from all lookup 254 sends packets .* by eth0/,
    'RuleToOtherLink',
  ],
  [
    'NetBird and wg-quick set rules for unmarked packets',
    [
      'rule add pref 8000 lookup main suppress_prefixlength 0',
      'rule add pref 8001 not fwmark 0xca6c lookup 51820',
      'route add default dev eth0 table 51820',
    ],
    /^rule 8001 not from all fwmark 0xca6c lookup 51820 sends packets .* by eth0/,
    'RuleToOtherLink',
  ],
  [
    'a rule with goto skips the rule of the NIC',
    ['rule add pref 9000 goto 32766'],
    /^rule 32766 from all lookup 254 sends packets .* by eth0/,
    'RuleToOtherLink',
  ],
];

describe('foreign rule before the NIC rule', () => {
  test.each(bypasses)(
    'the NIC fails with PathBypassed when %s',
    async (_, commands, words, code) => {
      host = await createHost('bypass', { nics: { ens5: mac } });
      await ip(...commands);
      const applied = await run(asked());
      expect(applied).toMatchObject({ outcome: 'failed', state: 'Failed', reason: 'PathBypassed' });
      expect(applied.message).toMatch(words);
      expect(applied.code).toBe(code);
      expect(applied.args).toContain('priority=');
      expect(await run(asked({ action: 'check' }))).toMatchObject({
        state: 'Failed',
        reason: 'PathBypassed',
        message: applied.message,
      });
      const older = await run(asked({ action: 'check', protocol: 4 }));
      expect(older).toMatchObject(isRight);
      expect(older.warnings?.[0]).toContain('PathBypassed multinic0 rule ');
      const mapped = await run(asked({ protocol: 4, generation: 2 }));
      expect(mapped).toMatchObject({ state: 'Failed', reason: 'VerifyFailed' });
      expect(mapped.code).toBeUndefined();
    },
  );

  test('a check finds the rule, and the NIC is right again when the rule is gone', async () => {
    host = await createHost('appears', { nics: { ens5: mac } });
    expect(await run(asked())).toMatchObject(isRight);
    await ip('rule add pref 9000 lookup main');
    const check = asked({ action: 'check' });
    expect(await run(check)).toMatchObject({ state: 'Failed', reason: 'PathBypassed' });
    await ip('rule del pref 9000');
    expect(await run(check)).toMatchObject(isRight);
  });

  test("an IPv6 rule before the NIC's rule is named", async () => {
    host = await createHost('six', { nics: { ens5: mac } });
    expect(await run(asked({}, dual))).toMatchObject(isRight);
    await ip('-6 rule add pref 9000 from fd00:5::11 prohibit');
    const found = await run(asked({ action: 'check' }, dual));
    expect(found).toMatchObject({ state: 'Failed', reason: 'PathBypassed' });
    expect(found.message).toMatch(/^rule 9000 from fd00:5::11 drops packets from fd00:5::11 to /);
  });

  test.each([
    ['by mark', 'rule add pref 9000 fwmark 0x1 lookup main'],
    ['by user', 'rule add pref 9000 uidrange 0-0 lookup main'],
    ['by protocol', 'rule add pref 9000 ipproto udp lookup main'],
    ['by port', 'rule add pref 9000 dport 53 lookup main'],
    ['of another address', 'rule add pref 9000 from 10.0.0.12 unreachable'],
    ['by incoming link', 'rule add pref 9000 iif eth0 lookup main'],
    ['without default routes', 'rule add pref 9000 lookup main suppress_prefixlength 0'],
  ])('the NIC is configured beside a rule for packets %s', async (_, command) => {
    host = await createHost('partial', { nics: { ens5: mac } });
    await ip(command);
    expect(await run(asked())).toMatchObject(isRight);
    expect(await run(asked({ action: 'check' }))).toMatchObject(isRight);
  });
});

describe('NIC that answers no packets', () => {
  const deaths: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    ['its link has NOARP', ['ip', 'link', 'set', 'multinic0', 'arp', 'off'], 'ArpOff', /NOARP/],
    [
      'arp_ignore of the link is 8',
      ['sysctl', '-qw', 'net.ipv4.conf.multinic0.arp_ignore=8'],
      'ArpIgnored',
      /^net\.ipv4\.conf\.multinic0\.arp_ignore is 8/,
    ],
    [
      'arp_ignore of all links is 8',
      ['sysctl', '-qw', 'net.ipv4.conf.all.arp_ignore=8'],
      'ArpIgnored',
      /^net\.ipv4\.conf\.all\.arp_ignore is 8/,
    ],
    [
      'the local entry of its address is deleted',
      ['ip', 'route', 'del', 'local', '10.0.0.11', 'dev', 'multinic0', 'table', 'local'],
      'LocalEntryMissing',
      /no entry for 10\.0\.0\.11/,
    ],
    [
      'the local entry of its IPv6 address is deleted',
      ['ip', '-6', 'route', 'del', 'local', 'fd00:5::11', 'dev', 'multinic0', 'table', 'local'],
      'LocalEntryMissing',
      /no entry for fd00:5::11/,
    ],
  ];

  test.each(deaths)('the NIC fails in a check when %s', async (_, command, code, words) => {
    host = await createHost('silent', { nics: { ens5: mac } });
    expect(await run(asked({}, dual))).toMatchObject(isRight);
    const [program = '', ...args] = command;
    expect((await host.exec(program, ...args)).code).toBe(0);
    const found = await run(asked({ action: 'check' }, dual));
    expect(found).toMatchObject({ state: 'Failed', reason: 'VerifyFailed', code });
    expect(found.message).toMatch(words);
  });

  test('a permanent and a silent neighbour for the gateway are warnings', async () => {
    host = await createHost('gateway', { nics: { ens5: mac } });
    expect((await run(asked())).warnings).toEqual([]);
    await ip('neigh replace 10.0.0.254 lladdr 02:de:ad:de:ad:01 dev multinic0 nud permanent');
    const check = asked({ action: 'check' });
    expect(await run(check)).toMatchObject({
      ...isRight,
      warnings: ['GatewayPinned multinic0 10.0.0.254 is permanently 02:de:ad:de:ad:01'],
    });
    await ip('neigh replace 10.0.0.254 dev multinic0 nud failed');
    expect(await run(check)).toMatchObject({
      ...isRight,
      warnings: ['GatewaySilent multinic0 10.0.0.254 does not answer'],
    });
  });

  test('a strict reverse path filter of all links is a warning', async () => {
    host = await createHost('strict', { nics: { ens5: mac } });
    await run(asked());
    for (const setting of ['all.rp_filter=1', 'multinic0.rp_filter=0'])
      await host.exec('sysctl', '-qw', `net.ipv4.conf.${setting}`);
    const { warnings } = await run(asked({ action: 'check' }));
    expect(warnings).toContainEqual(expect.stringContaining('StrictReversePath multinic0'));
  });
});

describe('path of the node to the API server', () => {
  const service = { address: '10.0.64.1', port: 443 };

  test('a Service address by the NIC fails the NIC in an apply and in each check', async () => {
    host = await createHost('service', { nics: { ens5: mac } });
    const apiServer = { service, endpoints: [] };
    const taken = {
      state: 'Failed',
      reason: 'NodePathTaken',
      message: 'the node reaches the Service address of the API server 10.0.64.1 by multinic0',
      code: 'ServiceByNic',
      args: 'to=10.0.64.1 link=multinic0',
    };
    expect(await run(asked({ apiServer }))).toMatchObject({ outcome: 'failed', ...taken });
    expect(await run(asked({ apiServer, action: 'check' }))).toMatchObject(taken);
    const older = await run(asked({ apiServer, action: 'check', protocol: 4 }));
    expect(older).toMatchObject(isRight);
  });

  test('an endpoint by the NIC fails the apply that took the path, and is a warning later', async () => {
    host = await createHost('endpoint', { nics: { ens5: mac } });
    const apiServer = { endpoints: [{ address: '10.0.64.2', port: 6443 }] };
    expect(await run(asked({ apiServer }))).toMatchObject({
      state: 'Failed',
      reason: 'NodePathTaken',
      code: 'EndpointByNic',
    });
    expect(await run(asked({ apiServer, action: 'check' }))).toMatchObject({
      ...isRight,
      warnings: ["NodePathTaken multinic0 has the node's path to 10.0.64.2"],
    });
  });

  test('an endpoint on this node is not looked up', async () => {
    host = await createHost('own', { nics: { ens5: mac } });
    const apiServer = { endpoints: [{ address: '10.200.0.2', port: 6443 }] };
    expect(await run(asked({ apiServer }))).toMatchObject({ ...isRight, warnings: [] });
  });
});

describe('node that loses the API server by a change', () => {
  const lost = { address: '10.201.0.5', port: 6443 };
  const cutting = nic(0, mac, '10.201.0.11/24');

  /** Creates a host with an endpoint in the fabric, reachable by the gateway only: the fabric answers no ARP for the endpoint. */
  async function hostWithEndpoint(name: string): Promise<NamespaceHost> {
    const created = await createHost(name, { nics: { ens5: mac } });
    const inFabric = ['-n', created.fabric];
    await runIp([...inFabric, 'addr', 'add', '10.201.0.5/32', 'dev', 'lo']);
    await runIp([...inFabric, 'link', 'set', 'dev', 'lo', 'up']);
    const setting = 'net.ipv4.conf.br0.arp_ignore=1';
    await runCommand('ip', ['netns', 'exec', created.fabric, 'sysctl', '-qw', setting]);
    return created;
  }

  test('the NIC is rolled back when the API server answered before and not after', async () => {
    host = await hostWithEndpoint('cut');
    const server = await listen(host, lost);
    try {
      const apiServer = { service: lost, endpoints: [lost] };
      const before = await stateOf(host);
      const { nics, outcome } = (await runAgent(host, asked({ apiServer }, cutting))).result ?? {};
      expect(outcome).toBe('failed');
      expect(nics).toMatchObject([
        {
          state: 'Failed',
          reason: 'NodeConnectivityLost',
          message:
            'the node no longer reached the Service address of the API server 10.201.0.5:6443; rolled back',
          code: 'ServiceUnreachable',
          args: 'address=10.201.0.5 port=6443',
        },
      ]);
      expect(await stateOf(host)).toEqual(before);
      const report = await readFile(join(host.root, 'var/lib/multinic/last.txt'), 'utf8');
      expect(report).toContain('Failed NodeConnectivityLost');
      const older = await run(asked({ apiServer, protocol: 4, generation: 2 }, cutting));
      expect(older).toMatchObject({ state: 'Failed', reason: 'VerifyFailed' });
    } finally {
      server.kill('SIGKILL');
    }
  });

  test('the NIC is not rolled back when the API server never answered', async () => {
    host = await hostWithEndpoint('deaf');
    const apiServer = { endpoints: [lost] };
    const started = performance.now();
    // The lookup still fails the NIC: the endpoint's path was by eth0 before.
    expect(await run(asked({ apiServer }, cutting))).toMatchObject({
      state: 'Failed',
      reason: 'NodePathTaken',
      message: 'the node reaches the API server at 10.201.0.5 by multinic0',
    });
    expect(performance.now() - started).toBeLessThan(scaled(5_000));
    expect(await host.ip('addr', 'show', 'dev', 'multinic0')).toContain('10.201.0.11/24');
  });

  test('the NIC stays when the API server answers before and after', async () => {
    host = await hostWithEndpoint('fine');
    const server = await listen(host, lost);
    try {
      const apiServer = { endpoints: [lost] };
      expect(await run(asked({ apiServer }))).toMatchObject(isRight);
    } finally {
      server.kill('SIGKILL');
    }
  });
});

test('a run with a change reports plan, results and lookups on the node, and the former report stays', async () => {
  host = await createHost('last', { nics: { ens5: mac } });
  const apiServer = { service: { address: '10.96.0.1', port: 443 }, endpoints: [] };
  expect(await run(asked({ apiServer }))).toMatchObject(isRight);
  const file = join(host.root, 'var/lib/multinic/last.txt');
  const first = await readFile(file, 'utf8');
  expect(first).toContain('generation: 1\naction: apply');
  expect(first).toContain('outcome: ok');
  expect(first).toContain(`0 ${mac} multinic0: Configured Configured`);
  expect(first).toContain('ip link set dev');
  const [, before = '', after = ''] = first.split(/lookups (?:before|after):/);
  expect(before).toContain('route get 10.96.0.1 (service): via 10.200.0.254 dev eth0 table 254');
  expect(after).toContain(
    'route get 198.51.100.1 from 10.0.0.11: via 10.0.0.254 dev multinic0 table 100',
  );
  await run(asked({ apiServer, generation: 2 }));
  expect(await readFile(file, 'utf8')).toBe(first);
  await run(asked({ apiServer, generation: 3 }, { ...wanted, mtu: 1400 }));
  expect(await readFile(file, 'utf8')).toContain('generation: 3\n');
  expect(await readFile(join(host.root, 'var/lib/multinic/last.1.txt'), 'utf8')).toBe(first);
});
