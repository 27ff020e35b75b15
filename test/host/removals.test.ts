import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOf, stateOf, without } from './host-state.ts';
import { answerOf } from './traffic.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const a = nic(0, first, '10.0.0.11/16', { gateway });
const b = nic(1, second, '10.0.0.12/16', { gateway });
const ofSecond = ['10.0.0.12', 'multinic1', '91-multinic1', 'ens6', second];

let host: NamespaceHost;
let generation: number;
afterEach(() => host.down());

/** Returns the result for a protocol 4 request. */
async function run(interfaces: RequestInterface[], more: Partial<JobRequest> = {}) {
  generation += 1;
  const asked = request(interfaces, { protocol: 4, generation, ...more });
  const { result, stderr } = await runAgent(host, asked);
  if (!result) throw new Error(`no result: ${stderr}`);
  return { ...result, stderr };
}

async function configured(name: string): Promise<void> {
  generation = 0;
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
  expect(await run([a, b])).toMatchObject({ outcome: 'ok', nics: [{}, {}] });
}

const held = (message: RegExp, name = 'multinic1') => ({
  index: 1,
  mac: second,
  name,
  state: 'Held',
  reason: 'RemovalHeld',
  message: expect.stringMatching(message) as string,
});

async function recordOfSecond(): Promise<unknown> {
  const state = JSON.parse(
    await readFile(join(host.root, 'var/lib/multinic/state.json'), 'utf8'),
  ) as { nics: { mac: string }[] };
  return state.nics.find(({ mac }) => mac === second);
}

test('an unnamed NIC keeps files, state and traffic, and leaves once named', async () => {
  await configured('named');
  const before = [await stateOf(host), await recordOfSecond()];
  const { outcome, nics, known, stderr } = await run([a], { mayRemove: [] });
  expect(outcome).toBe('ok');
  expect(nics).toMatchObject([{ mac: first, state: 'Configured' }, held(/not named for removal/)]);
  expect(known).toMatchObject([{ mac: first }, { mac: second, index: 1 }]);
  expect(stderr).toMatch(new RegExp(`"held":\\["${second}[^\\]]*\\],"msg":"RemovalHeld"`));
  expect([await stateOf(host), await recordOfSecond()]).toEqual(before);
  expect(await answerOf(host, gateway, '10.0.0.12')).toBe('hello');

  const next = await run([a], { mayRemove: [second] });
  expect(next).toMatchObject({ outcome: 'ok', nics: [{}, { mac: second, state: 'Removed' }] });
  expect(next.known).toMatchObject([{ mac: first }]);
  const state = await stateOf(host);
  expect(JSON.stringify(state)).not.toContain('10.0.0.12');
  expect(await filesOf(host)).not.toHaveProperty('91-multinic1.yaml');
  const [full] = before as [typeof state];
  expect(without(state, ...ofSecond)).toEqual(without(full, ...ofSecond));
});

test('a NIC named for a missing link leaves only without the link', async () => {
  await configured('gone');
  const before = await stateOf(host);
  const present = await run([a], { mayRemoveIfGone: [second] });
  expect(present.nics).toMatchObject([{}, held(/^link multinic1 is still there/)]);
  expect(await stateOf(host)).toEqual(before);

  await host.ip('link', 'del', 'multinic1');
  const unnamed = await run([a]);
  expect(unnamed.nics).toMatchObject([{}, held(/not named/, '')]);
  expect(await filesOf(host)).toHaveProperty('91-multinic1.yaml');
  const next = await run([a], { mayRemoveIfGone: [second] });
  expect(next).toMatchObject({ outcome: 'ok', nics: [{}, { mac: second, state: 'Removed' }] });
  const state = await stateOf(host);
  expect(JSON.stringify([state.rules, state.files])).not.toContain('10.0.0.12');
  expect(JSON.stringify(state)).toContain('10.0.0.11');
});

test('a clean-up with empty lists and a check change nothing', async () => {
  await configured('cleanup');
  const before = await stateOf(host);
  const cleanup = await run([], { action: 'cleanup', mayRemove: [], mayRemoveIfGone: [] });
  expect(cleanup).toMatchObject({
    outcome: 'ok',
    nics: [{ mac: first, state: 'Held' }, held(/./)],
  });
  expect(cleanup.known).toHaveLength(2);
  const check = await run([a], { action: 'check' });
  expect(check).toMatchObject({ outcome: 'ok', nics: [{ state: 'Configured' }, held(/./)] });
  expect(await stateOf(host)).toEqual(before);
});

test('an entry with the index and an address of a held NIC waits', async () => {
  await configured('waits');
  await host.plug('ens7', '02:00:00:00:01:07');
  const before = await stateOf(host);
  const successor = nic(1, '02:00:00:00:01:07', '10.0.0.12/16', { gateway });
  const waiting = await run([a, successor]);
  expect(waiting).toMatchObject({
    outcome: 'ok',
    nics: [
      { state: 'Configured' },
      { name: 'ens7', state: 'Held', message: expect.stringContaining(second) as string },
      held(/not named/),
    ],
  });
  expect(await stateOf(host)).toEqual(before);
  const next = await run([a, successor], { mayRemove: [second] });
  expect(next).toMatchObject({
    outcome: 'ok',
    nics: [{}, { name: 'multinic1', state: 'Configured' }, { mac: second, state: 'Removed' }],
  });
  expect(await answerOf(host, gateway, '10.0.0.12')).toBe('hello');
});
