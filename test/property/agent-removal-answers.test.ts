import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AgentDeps } from '../../src/agent/agent.ts';
import { readState } from '../../src/agent/apply/memory.ts';
import { underLock } from '../../src/agent/lock.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { entry, freshSettings, macOf, request } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';

let bed: AgentOnModel;
afterEach(() => bed[Symbol.dispose]());

const both = request([entry(1), entry(2)]);
const path = (name: string) => join(bed.box.root, name);
const stateFile = 'var/lib/multinic/state.json';
const held = { mac: macOf(2), state: 'Held', reason: 'RemovalHeld' };

/** A request of protocol 4 for NIC 1 on a host with NICs 1 and 2. */
const named = (more: Partial<JobRequest> = {}) =>
  request([entry(1)], { protocol: 4, generation: 2, ...more });

const cleanup = named({ action: 'cleanup', interfaces: [] });

async function withBoth(): Promise<void> {
  bed = await AgentOnModel.open();
  expect(await bed.run(both)).toMatchObject({ outcome: 'ok' });
}

/** Kernel, files and state.json without the fence. */
function picture() {
  const { links, addresses, routes, rules } = bed.box.kernel;
  const names = readdirSync(path('etc/netplan')).filter((name) => name.endsWith('.yaml'));
  const files = names.map((name) => [name, readFileSync(path(`etc/netplan/${name}`), 'utf8')]);
  const { nics, left } = readState(bed.box.root);
  const sorted = [links, addresses, routes, rules].map((items) =>
    items.map((item) => JSON.stringify(item)).toSorted(),
  );
  return [sorted, files, nics, left];
}

const noNetplan = () => rmSync(path('usr/lib/netplan'), { recursive: true });
const noState = () => rmSync(path('var/lib/multinic'), { recursive: true });

test.each<[string, JobRequest, () => void, object]>([
  ['UnknownState', named(), () => writeFileSync(path(stateFile), '{}'), { outcome: 'refused' }],
  ['WrongFamily', named(), noNetplan, { nics: [{ reason: 'WrongFamily' }] }],
  ['WrongFamily in a check', named({ action: 'check' }), noNetplan, { outcome: 'failed' }],
  ['WrongFamily in a clean-up', cleanup, noNetplan, { outcome: 'failed' }],
  [
    'a clean-up of a foreign host',
    cleanup,
    () => {
      noNetplan();
      noState();
    },
    { outcome: 'ok', nics: [] },
  ],
  ['WrongMachine', named({ machineId: 'x' }), () => undefined, { outcome: 'refused' }],
])('the result %s leaves the known NICs unread', async (_, asked, prepare, expected) => {
  await withBoth();
  prepare();
  const result = await bed.run(asked);
  expect(result).toMatchObject(expected);
  expect(result).not.toHaveProperty('known');
});

test('the result AlreadyRunning leaves the known NICs unread', async () => {
  await withBoth();
  const { promise, resolve } = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const other = underLock({ hostRoot: bed.box.root, clock: bed.clock, signal }, () => promise);
  const result = await bed.run(named());
  resolve();
  await other;
  expect(result).toMatchObject({ refusal: { reason: 'AlreadyRunning' } });
  expect(result).not.toHaveProperty('known');
});

test.each<[string, JobRequest]>([
  ['an apply', named({ interfaces: [entry(2)] })],
  ['a check', named({ interfaces: [entry(2)], action: 'check' })],
  ['a clean-up', named({ action: 'cleanup', interfaces: [], mayRemove: [macOf(2)] })],
])('the result of %s lists a held NIC once', async (_, asked) => {
  await withBoth();
  const { nics, known, outcome } = await bed.run(asked);
  expect(nics.at(-1)).toMatchObject({ ...held, mac: macOf(1), name: 'multinic0' });
  expect(outcome).toBe('ok');
  expect(known?.filter(({ mac }) => mac === macOf(1))).toEqual([{ mac: macOf(1), index: 0 }]);
  expect(known).toHaveLength(asked.action === 'cleanup' ? 1 : 2);
});

test.each(['apply', 'check'] as const)(
  'the result of action %s lists a held NIC that is back after its detachment',
  async (action) => {
    await withBoth();
    bed.anotherBoot();
    const { links, addresses } = bed.box.kernel;
    const [nic] = links.filter(({ mac }) => mac === macOf(2));
    if (!nic) throw new Error('no NIC 2');
    const own = addresses.filter((each) => each.link === nic.name);
    const { settings } = bed.box.kernel;
    bed.box.update(() => ({
      links: links.filter((each) => each !== nic),
      addresses: addresses.filter((each) => !own.includes(each)),
      settings: new Map([...settings].filter(([name]) => name !== nic.name)),
    }));
    await bed.run(named({ mayRemove: [macOf(2)] }));
    bed.box.update((kernel) => ({
      links: [...kernel.links, nic],
      addresses: [...kernel.addresses, ...own],
      settings: new Map([...kernel.settings, [nic.name, freshSettings]]),
    }));
    expect(readState(bed.box.root).nics).toHaveLength(1);
    const { nics, known } = await bed.run(named({ action }));
    expect(nics.at(-1)).toMatchObject({ ...held, name: 'multinic1' });
    expect(known).toEqual([
      { mac: macOf(1), index: 0 },
      { mac: macOf(2), index: 1 },
    ]);
  },
);

test('a removal that fails leaves a held NIC alone in the second plan', async () => {
  await withBoth();
  await bed.run(request([entry(1), entry(2), entry(3)], { generation: 2 }));
  bed.box.refuses = (line) => line.startsWith('addr del 10.0.0.3/');
  const wanted = entry(1, { mtu: 1400 });
  const result = await bed.run(
    named({ interfaces: [wanted], mayRemove: [macOf(3)], generation: 3 }),
  );
  expect(result.nics).toMatchObject([
    { mac: macOf(1), reason: 'Configured' },
    { mac: macOf(3), state: 'Failed' },
    { ...held, name: 'multinic1' },
  ]);
});

const withoutStateWrites: AgentDeps['perform'] = async (name, write) => {
  if (name === 'agent.state.write') throw new Error('no space left');
  return write();
};

test('a held NIC stays Held if state.json cannot be written', async () => {
  await withBoth();
  const perform = withoutStateWrites;
  expect((await bed.run(named(), { perform })).nics).toMatchObject([
    { reason: 'PersistFailed' },
    held,
  ]);
});

/** Removes NIC 2 and dies before the external write with this number. */
async function dies(at: number): Promise<boolean> {
  let count = 0;
  const perform: AgentDeps['perform'] = async (_, write) => {
    if (count++ >= at) throw new Error('dead');
    return write();
  };
  const asked = named({ mayRemove: [macOf(2)] });
  return bed.run(asked, { perform }).then(
    () => false,
    () => true,
  );
}

test('recovery ends an interrupted removal although the next request does not name the NIC', async () => {
  const ends = new Set<number>();
  for (let at = 0, isDead = true; isDead; at++) {
    const pictures = [];
    for (const next of [
      named({ generation: 3, mayRemove: [] }),
      named({ generation: 3, protocol: 3, keep: [macOf(2)] }),
    ]) {
      await withBoth();
      isDead = await dies(at);
      const { outcome, nics } = await bed.run(next);
      expect(outcome).toBe('ok');
      pictures.push(picture());
      const { length } = readState(bed.box.root).nics;
      ends.add(length);
      if (next.protocol === 4) expect(nics).toHaveLength(length);
      expect(existsSync(path('var/lib/multinic/journal/1.json'))).toBe(false);
      if (next.protocol === 4) bed[Symbol.dispose]();
    }
    expect(pictures[0]).toEqual(pictures[1]);
    if (isDead) bed[Symbol.dispose]();
  }
  expect(ends).toEqual(new Set([1, 2]));
});
