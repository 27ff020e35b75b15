import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentDeps } from '../../src/agent/agent.ts';
import { readState } from '../../src/agent/apply/memory.ts';
import { underLock } from '../../src/agent/lock.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { entry, macOf, request } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';
import type { ModelHost } from './model-host.ts';

let bed: AgentOnModel;
let box: ModelHost;
afterEach(() => bed[Symbol.dispose]());

async function freshHost(): Promise<void> {
  bed = await AgentOnModel.open();
  ({ box } = bed);
}

function agent(asked: JobRequest, more: Partial<AgentDeps> = {}) {
  return bed.run(asked, more);
}

const untouched = ['agent.result.write'];

/** A host on which a run could neither finish these NICs nor undo them. */
async function leaveInHand(...entries: readonly RequestInterface[]): Promise<void> {
  await freshHost();
  const failing = new Set(['agent.file.commit', 'agent.journal.remove']);
  await agent(request(entries), {
    perform: async (name, write) => {
      if (failing.has(name)) throw new Error(`no ${name}`);
      return write();
    },
  });
}

describe('a run of the agent', () => {
  test('[RW-54] ends with status 0 when all is as asked, with 1 when not', async () => {
    await freshHost();
    expect(await agent(request([entry(9)]))).toMatchObject({ code: 1, outcome: 'failed' });
    expect(await agent(request([entry(1)]))).toMatchObject({ code: 0, outcome: 'ok' });
  });

  test('touches nothing for another machine, nor for a request that is old', async () => {
    await freshHost();
    mkdirSync(join(box.root, 'etc'), { recursive: true });
    writeFileSync(join(box.root, 'etc/machine-id'), 'mine\n');
    const asked = request([entry(1)], { protocol: 2, generation: 5 });
    const other = await agent({ ...asked, machineId: 'theirs' });
    expect(other).toMatchObject({ code: 1, refusal: { reason: 'WrongMachine' } });
    expect(bed.effects).toEqual(untouched);
    expect((await agent({ ...asked, machineId: 'mine' })).outcome).toBe('ok');
    const late = await agent(request([], { protocol: 2, generation: 4 }));
    expect(late).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'StaleRequest' },
      fence: { generation: 5 },
    });
    expect(bed.effects).toEqual(untouched);
  });

  test('says that another one holds the host', async () => {
    await freshHost();
    const { promise, resolve } = Promise.withResolvers<void>();
    const signal = new AbortController().signal;
    const other = underLock({ hostRoot: box.root, clock: bed.clock, signal }, () => promise);
    const answer = await agent(request([entry(1)]));
    expect(answer).toMatchObject({ outcome: 'refused', refusal: { reason: 'AlreadyRunning' } });
    expect(box.done).toEqual([]);
    resolve();
    await other;
  });

  test('that is stopped before it has begun changes nothing and says so', async () => {
    await freshHost();
    const stop = new AbortController();
    stop.abort(new Error('told to stop'));
    const answer = await agent(request([entry(1)]), { signal: stop.signal });
    expect(answer.nics).toMatchObject([{ reason: 'RolledBack' }]);
    expect(box.done).toEqual([]);
    expect(existsSync(join(box.root, 'etc/netplan/90-multinic0.yaml'))).toBe(false);
  });

  test('that is stopped later goes on to its end', async () => {
    await freshHost();
    const stop = new AbortController();
    const answer = await agent(request([entry(1)]), {
      signal: stop.signal,
      perform: async (_, write) => {
        stop.abort(new Error('told to stop'));
        return write();
      },
    });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
  });

  test('does not call it a stop when it fails after one', async () => {
    await freshHost();
    const stop = new AbortController();
    const answer = await agent(request([entry(1)]), {
      signal: stop.signal,
      startIp: () => ({
        run: async () => {
          stop.abort(new Error('told to stop'));
          throw new Error('no kernel');
        },
        [Symbol.dispose]: () => undefined,
      }),
    });
    expect(answer.nics).toMatchObject([{ reason: 'ApplyFailed', message: 'no kernel' }]);
  });

  test('gives nobody what a removal that failed has left in place', async () => {
    await freshHost();
    await agent(request([entry(1)]));
    box.refuses = (line) => line.startsWith('addr del');
    const next = entry(2, { index: 0, addresses: ['10.0.1.2/24'], gateway: '10.0.1.254' });
    const answer = await agent(request([next], { generation: 2 }));
    expect(answer.nics).toMatchObject([
      { mac: macOf(2), reason: 'Configured', name: 'multinic1' },
      { mac: macOf(1), reason: 'ApplyFailed', name: 'multinic0' },
    ]);
  });

  test('gives away what removals have freed, though another one failed', async () => {
    await freshHost();
    await agent(request([entry(1), entry(2)]));
    box.refuses = (line) => line.startsWith('addr del 10.0.0.2/');
    const next = entry(3, { index: 0 });
    const answer = await agent(request([next], { generation: 2 }));
    expect(answer.nics).toMatchObject([
      { mac: macOf(3), reason: 'Configured', name: 'multinic0' },
      { mac: macOf(1), reason: 'Removed' },
      { mac: macOf(2), reason: 'ApplyFailed', name: 'multinic1' },
    ]);
  });

  test('vouches for nothing that it could not write down', async () => {
    await freshHost();
    await agent(request([entry(1)]));
    const answer = await agent(request([entry(1)], { generation: 2 }), {
      perform: async (name, write) => {
        if (name === 'agent.state.write') throw new Error('no space left');
        return write();
      },
    });
    expect(answer).toMatchObject({ outcome: 'failed', nics: [{ reason: 'PersistFailed' }] });
  });

  test('commits no file that says, read back, something else than was written', async () => {
    await freshHost();
    const place = join(box.root, 'etc/netplan');
    const answer = await agent(request([entry(1)]), {
      perform: async (name, write) => {
        const done = await write();
        const staged = join(place, '.90-multinic0.yaml.multinic-new');
        if (name === 'agent.file.stage') {
          writeFileSync(staged, readFileSync(staged, 'utf8').replaceAll('10.0.0.1/', '10.0.0.9/'));
        }
        return done;
      },
    });
    expect(answer.nics).toMatchObject([{ reason: 'PersistFailed', name: 'ens1' }]);
    expect(readdirSync(place)).toEqual([]);
  });

  test('on a host of another family is no clean-up while something of ours is known', async () => {
    await freshHost();
    await agent(request([entry(1)]));
    fs.rmSync(join(box.root, 'usr/lib/netplan'), { recursive: true });
    const cleanup = request([], { generation: 2, action: 'cleanup' });
    expect(await agent(cleanup)).toMatchObject({
      outcome: 'failed',
      warnings: [expect.stringContaining('no netplan') as string],
    });
    fs.rmSync(join(box.root, 'var/lib/multinic/state.json'));
    expect(await agent(cleanup)).toMatchObject({ outcome: 'ok' });
  });

  test('[RW-07] that cannot end what an earlier one left in hand says so, and serves the other NICs', async () => {
    await leaveInHand(entry(1));
    const journal = join(box.root, 'var/lib/multinic/journal/0.json');
    expect(existsSync(journal)).toBe(true);
    const inTheWay = join(box.root, 'etc/netplan/.90-multinic0.yaml.multinic-new');
    mkdirSync(inTheWay);
    const both = await agent(request([entry(1), entry(2)], { generation: 2 }));
    expect(both.nics).toMatchObject([
      {
        name: 'ens1',
        reason: 'RollbackFailed',
        message: expect.stringContaining('EISDIR') as string,
      },
      { name: 'multinic1', reason: 'Configured' },
    ]);
    const cleaned = await agent(request([], { generation: 3, action: 'cleanup' }));
    expect(cleaned.nics).toMatchObject([{ reason: 'RollbackFailed' }, { reason: 'Removed' }]);
    expect(existsSync(journal)).toBe(true);
    fs.rmdirSync(inTheWay);
    const { nics } = await agent(request([entry(1)], { generation: 4 }));
    expect(nics).toMatchObject([{ name: 'multinic0', reason: 'Configured' }]);
    expect(existsSync(journal)).toBe(false);
  });

  test('waits once for an ip that does not answer, whatever is in hand', async () => {
    await leaveInHand(entry(1), entry(2), entry(3));
    expect(readdirSync(join(box.root, 'var/lib/multinic/journal'))).toHaveLength(3);
    let asked = 0;
    const run = async () => {
      asked += 1;
      throw new Error('ip did not answer within 120 s');
    };
    const answer = await agent(request([entry(1)], { generation: 2 }), {
      startIp: () => ({ run, [Symbol.dispose]: () => undefined }),
    });
    expect(answer.nics).toMatchObject([
      { reason: 'ApplyFailed', message: expect.stringContaining('did not answer') as string },
    ]);
    expect(asked).toBe(1);
  });

  test('takes a NIC whose change was undone late for one that was never ours', async () => {
    await leaveInHand(entry(1));
    const inTheWay = join(box.root, 'etc/netplan/.90-multinic0.yaml.multinic-new');
    mkdirSync(inTheWay);
    const { nics } = await agent(request([entry(1)], { generation: 2 }));
    expect(nics).toMatchObject([{ reason: 'RollbackFailed' }]);
    fs.rmdirSync(inTheWay);
    const all = '{network: {ethernets: {all: {match: {name: "ens*"}, dhcp4: true}}}}';
    writeFileSync(join(box.root, 'etc/netplan/50-all.yaml'), all);
    const answer = await agent(request([entry(1)], { generation: 3 }));
    expect(answer.nics).toMatchObject([{ name: 'ens1', reason: 'LeasedByHost' }]);
    expect(readState(box.root).nics).toEqual([]);
  });

  test.each(['run', 'usr/lib'])('minds what netplan reads in /%s/netplan', async (place) => {
    await freshHost();
    mkdirSync(join(box.root, place, 'netplan'), { recursive: true });
    const claim = `network: {ethernets: {a: {match: {macaddress: "${macOf(1)}"}, dhcp4: true}}}`;
    writeFileSync(join(box.root, place, 'netplan/50-theirs.yaml'), claim);
    const { nics } = await agent(request([entry(1)]));
    const message = `/${place}/netplan/50-theirs.yaml ethernets.a.dhcp4 configures the NIC; remove the NIC from that file`;
    expect(nics).toMatchObject([{ reason: 'NICInUse', message }]);
  });

  test('[RW-36] undoes everything when the node itself lost its way out', async () => {
    await freshHost();
    const run = async (lines: readonly string[]) => {
      const answer = await box.run(lines);
      if (lines.length === 0) return answer;
      const routes = box.kernel.routes.filter(({ to }) => to !== '0.0.0.0/0');
      box.kernel = { ...box.kernel, routes };
      return box.run([]);
    };
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const { nics } = await agent(request([entry(1, { gateway: undefined })]), { startIp });
    expect(nics).toMatchObject([
      {
        reason: 'VerifyFailed',
        name: 'ens1',
        message: 'the node lost route 0.0.0.0/0 via 10.200.0.254 dev eth0; rolled back',
      },
    ]);
    expect(existsSync(join(box.root, 'etc/netplan/90-multinic0.yaml'))).toBe(false);
  });

  test('also what comes after a removal during which it lost it', async () => {
    await freshHost();
    const gateway = undefined;
    await agent(request([entry(1, { gateway }), entry(2, { gateway })], { protocol: 2 }));
    box.refuses = () => {
      const routes = box.kernel.routes.filter(({ to }) => to !== '0.0.0.0/0');
      box.kernel = { ...box.kernel, routes };
      return false;
    };
    const asked = [entry(1, { gateway }), entry(3, { gateway })];
    const { nics } = await agent(request(asked, { protocol: 2, generation: 2 }));
    expect(nics).toMatchObject([
      { state: 'Configured' },
      { mac: macOf(3), reason: 'VerifyFailed' },
      { mac: macOf(2), reason: 'VerifyFailed' },
    ]);
    expect(existsSync(join(box.root, 'etc/netplan/92-multinic2.yaml'))).toBe(false);
  });
});

const short = (path: string) => path.replace(`${box.root}/`, '');

/** What reaches the disk and the kernel, in order. */
async function recorded(asked: JobRequest): Promise<string[]> {
  const events: string[] = [];
  const { fsync, renameSync } = fs;
  const patched = {
    fsync: ((descriptor: number, done: (error: null) => void) => {
      events.push(`sync ${short(fs.readlinkSync(`/proc/self/fd/${descriptor}`))}`);
      done(null);
    }) as typeof fs.fsync,
    renameSync: (from: string, to: string) => {
      events.push(`rename ${short(from)} ${short(to)}`);
      renameSync(from, to);
    },
  };
  Object.assign(fs, patched);
  syncBuiltinESMExports();
  try {
    const run = async (lines: readonly string[]) => {
      events.push(...lines);
      return box.run(lines);
    };
    await agent(asked, { startIp: () => ({ run, [Symbol.dispose]: () => undefined }) });
    return events;
  } finally {
    Object.assign(fs, { fsync, renameSync });
    syncBuiltinESMExports();
  }
}

test('nothing is built on a file before it has reached the disk', async () => {
  await freshHost();
  const events = await recorded(request([entry(1)]));
  const before = (first: string, second: string) => {
    expect(events).toContain(first);
    expect(events).toContain(second);
    expect(events.indexOf(first), `${first} … ${second}`).toBeLessThan(events.indexOf(second));
  };
  const journal = 'var/lib/multinic/journal';
  const state = 'var/lib/multinic/state.json';
  const staged = 'etc/netplan/.90-multinic0.yaml.multinic-new';
  const kernel = 'link set dev ens1 name multinic0';
  const commit = `rename ${staged} etc/netplan/90-multinic0.yaml`;
  before(`sync ${journal}/0.json.new`, `rename ${journal}/0.json.new ${journal}/0.json`);
  before(`rename ${journal}/0.json.new ${journal}/0.json`, `sync ${journal}`);
  before(`sync ${journal}`, kernel);
  before(`sync ${staged}`, commit);
  before(kernel, commit);
  before(commit, 'sync etc/netplan');
  before('sync etc/netplan', `rename ${state}.new ${state}`);
  before(`sync ${state}.new`, `rename ${state}.new ${state}`);
  before(`rename ${state}.new ${state}`, 'sync var/lib/multinic');
  // The journal goes last, before the report.
  const report = 'rename var/lib/multinic/last.txt.new var/lib/multinic/last.txt';
  expect(events.slice(-2)).toEqual([`sync ${journal}`, report]);
});
