import { execFileSync } from 'node:child_process';
import { once as oneEvent } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { heapLimits } from '../../process/heap.ts';
import { IpSession } from './session.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'multinic-ip-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Fake `ip`: answers each query with an empty list, refuses `bad` and records each start. */
async function fakeIp(more = '', first = ''): Promise<string> {
  const path = join(directory, 'ip');
  const script = `#!/bin/sh
echo started >>${directory}/starts
[ "$1" = -6 ] && family=six || family=any
number=0
while read -r line; do
  number=$((number + 1))
  case $line in
    ${first}
    *show*) echo '[]' ;;
    bad*) echo 'Error: not today.' >&2; echo "Command failed -:$number" >&2; exit 1 ;;
    ${more}
  esac
done
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return path;
}

/** `padding`: characters per link the agent does not use, as in `ip -d` output. */
interface Size {
  readonly links: number;
  readonly routes: number;
  readonly padding: number;
}

const hex = (n: number) => n.toString(16).padStart(4, '0');

/** Shell command for the fake `ip` answering with this list. */
async function fileOf(name: string, list: object): Promise<string> {
  await writeFile(join(directory, name), `${JSON.stringify(list)}\n`);
  return `cat ${directory}/${name} ;;`;
}

/** Shell lines for a fake `ip` with answers in this size. */
async function answersOf({ links, routes, padding }: Size): Promise<string> {
  const numbers = Array.from({ length: links }, (_, n) => n + 1);
  const shown = numbers.map((ifindex) => ({
    ifindex,
    ifname: `cali${hex(ifindex)}`,
    flags: ['BROADCAST', 'MULTICAST', 'UP', 'LOWER_UP'],
    mtu: 1450,
    operstate: 'x'.repeat(padding),
    address: `ee:ee:ee:00:${hex(ifindex).slice(0, 2)}:${hex(ifindex).slice(2)}`,
    linkinfo: { info_kind: 'veth' },
    addr_info: [{ family: 'inet6', local: `fe80::${hex(ifindex)}`, prefixlen: 64, scope: '253' }],
  }));
  const routeList = Array.from({ length: routes }, (_, n) => ({
    dst: `100.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
    gateway: `10.200.0.${n % 200}`,
    dev: 'eth0',
    protocol: '12',
    flags: [],
  }));
  const all = await fileOf('links', shown);
  return `link*) ${all}\n addr*) ${all}\n route*) ${await fileOf('routes', routeList)}`;
}

const nothing = { links: [], addresses: [], routes: [], rules: [], neighbours: [] };

describe('IpSession', () => {
  test('IpSession runs lines and returns the state afterwards, repeatedly in a single process', async () => {
    using ip = new IpSession(await fakeIp());
    expect(await ip.run([])).toEqual({ seen: nothing });
    expect(await ip.run(['good', 'good'])).toEqual({ seen: nothing });
    expect(await readFile(join(directory, 'starts'), 'utf8')).toBe('started\n');
  });

  test('IpSession reports the refused line and its reason, and continues with a new process', async () => {
    using ip = new IpSession(await fakeIp());
    await ip.run(['good']);
    const refused = { failedAt: 1, words: 'Error: not today.' };
    expect(await ip.run(['good', 'bad', 'good'])).toEqual(refused);
    expect(await ip.run(['bad'])).toEqual({ failedAt: 0, words: 'Error: not today.' });
    expect(await ip.run(['good'])).toEqual({ seen: nothing });
  });

  test('IpSession uses a second process for IPv6, queried only on request', async () => {
    const rules = `[{"priority":9,"src":"fd00::1","table":"100"}]`;
    const more = `good*) echo "$family $line" >>${directory}/lines ;;`;
    const first = `rule*show) [ $family = six ] && echo '${rules}' || echo '[]' ;;`;
    using ip = new IpSession(await fakeIp(more, first));
    const rule = { family: 6, from: 'fd00::1/128', priority: 9, table: 100 };
    const answer = await ip.run(['good 1', '-6 good 2'], true);
    expect(answer).toMatchObject({ seen: { rules: [rule] } });
    expect(await readFile(join(directory, 'lines'), 'utf8')).toBe('any good 1\nsix good 2\n');
    expect(await ip.run([])).toEqual({ seen: nothing });
    expect(await readFile(join(directory, 'starts'), 'utf8')).toBe('started\nstarted\n');
  });

  test('IpSession reports a refused IPv6 line, and runs no IPv6 lines after an earlier failure', async () => {
    const more = `good*) echo "$family $line" >>${directory}/lines ;;`;
    using ip = new IpSession(await fakeIp(more));
    const refused = { failedAt: 2, words: 'Error: not today.' };
    expect(await ip.run(['good', '-6 good', '-6 bad', '-6 good'], true)).toEqual(refused);
    expect(await ip.run(['bad', '-6 good'], true)).toMatchObject({ failedAt: 0 });
    // The process without a query has started.
    const starts = () => readFile(join(directory, 'starts'), 'utf8');
    await expect.poll(starts).toBe('started\n'.repeat(3));
    expect(await readFile(join(directory, 'lines'), 'utf8')).toBe('any good\nsix good\n');
  });

  test('IpSession rejects if ip exits by itself, and works again afterwards', async () => {
    using ip = new IpSession(await fakeIp("end) echo 'out of memory' >&2; exit 3 ;;"));
    await expect(ip.run(['end'])).rejects.toThrow('ip exited with code 3: out of memory');
    expect(await ip.run([])).toEqual({ seen: nothing });
  });

  test('IpSession reports a signal from outside', async () => {
    using ip = new IpSession(await fakeIp('hit) kill -KILL $$ ;;'));
    await expect(ip.run(['hit'])).rejects.toThrow('ip was killed by SIGKILL');
    expect(await ip.run([])).toEqual({ seen: nothing });
  });

  test('IpSession names the missing package if ip is absent', async () => {
    using ip = new IpSession(join(directory, 'nowhere'));
    await expect(ip.run([])).rejects.toThrow('there is no ip command on PATH; install iproute2');
  });

  test('IpSession gives up on a node with too many objects for its memory', async () => {
    // `exec`: the signal to ip ends the flood too.
    const flood = `route*) exec awk 'BEGIN { printf "["; for (;;) printf "{\\"dst\\":\\"10.0.0.1\\"}," }' ;;`;
    using ip = new IpSession(await fakeIp('', flood));
    await expect(ip.run([])).rejects.toThrow(
      'more than 100,000 links, addresses, routes, rules and neighbours',
    );
  });

  test.each<[string, Size]>([
    ['4,000 links and 30,000 routes', { links: 4_000, routes: 30_000, padding: 2_000 }],
    ['a link and 99,990 routes', { links: 1, routes: 99_990, padding: 0 }],
    ['30,000 links', { links: 30_000, routes: 0, padding: 2_000 }],
  ])("IpSession keeps three reads with %s in an agent's heap", async (_, size) => {
    const code = `
      const { workerData } = require('node:worker_threads');
      const { module, command, links, routes } = workerData;
      import(module).then(async ({ IpSession }) => {
        using ip = new IpSession(command);
        const looks = [await ip.run([]), await ip.run([]), await ip.run([])];
        const isWhole = ({ seen }) => seen.routes.length === routes && seen.links.length === links;
        process.exit(looks.every(isWhole) ? 0 : 1);
      });`;
    const module = import.meta.resolve('./session.ts');
    const command = await fakeIp('', await answersOf(size));
    const { young, old } = heapLimits('agent');
    const worker = new Worker(code, {
      eval: true,
      workerData: { module, command, ...size },
      resourceLimits: { maxOldGenerationSizeMb: old, maxYoungGenerationSizeMb: 3 * young },
    });
    expect(await oneEvent(worker, 'exit')).toEqual([0]);
  });

  test('IpSession rejects on an unexpected answer', async () => {
    using ip = new IpSession(await fakeIp("odd) echo '[{}]'; ;;"));
    await expect(ip.run(['odd'])).rejects.toThrow(/ifname/);
  });

  test('IpSession repeats an interrupted dump without repeating the lines', async () => {
    const torn = `echo 'Dump was interrupted and may be inconsistent.' >&2; echo '[{"priority":1,"src":"all"}]'`;
    const marker = `${directory}/told`;
    const once = `rule*) if [ -e ${marker} ]; then echo '[]'; else touch ${marker}; ${torn}; fi ;;`;
    using ip = new IpSession(await fakeIp(`good) echo done >>${directory}/lines ;;`, once));
    expect(await ip.run(['good'])).toEqual({ seen: nothing });
    expect(await readFile(join(directory, 'lines'), 'utf8')).toBe('done\n');
  });

  test('IpSession notices a complaint read after its answer', async () => {
    const marker = `${directory}/told`;
    const torn = `echo 'Dump was interrupted and may be inconsistent.' >&2; echo '[{"priority":1,"src":"all"}]'`;
    // The answer's pipe has data first, so the whole answer is read before the complaint.
    const once = `rule*) if [ -e ${marker} ]; then echo '[]'; else ${torn}; fi ;;\n addr*) echo '[]'; [ -e ${marker} ] || touch ${marker} ;;`;
    using ip = new IpSession(await fakeIp('', once));
    const answer = ip.run([]);
    const wait = `until [ -e ${marker} ]; do sleep 0.01; done`;
    execFileSync('sh', ['-c', wait], { timeout: 20_000 });
    expect(await answer).toEqual({ seen: nothing });
  });

  test('IpSession repeats a read with a renamed link, ten times at most', async () => {
    const links = `[{"ifindex":5,"ifname":"ens5","flags":[],"mtu":1500}]`;
    const first = `link*) echo '${links}' ;;\n addr*) echo '[{"ifindex":5,"ifname":"multinic0"}]' ;;`;
    using ip = new IpSession(await fakeIp('', first));
    await expect(ip.run([])).rejects.toThrow('during each of 10 reads');
  });
});
