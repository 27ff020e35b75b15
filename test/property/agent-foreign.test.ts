import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readState } from '../../src/agent/apply/memory.ts';
import type { Snapshot } from '../../src/agent/snapshot.ts';
import { ipOf } from '../../src/api/address.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { macOf, request } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';
import { makeFamily } from './disk-faults/family-hosts.ts';
import { pictureOf } from './disk-faults/pictures.ts';
import { hostWith, type Story, someStory } from './foreign-sets.ts';

const numRuns = Number(process.env['MULTINIC_FOREIGN_SETS'] ?? 60);

const ours = (name: string) => /^multinic\d$/.test(name);

/** What of a host is not ours, as far as these requests say. */
function foreignOf(kernel: Snapshot, intents: readonly (readonly RequestInterface[])[]): string[] {
  const ips = new Set(intents.flat().flatMap(({ addresses }) => addresses.map(ipOf)));
  const nics = new Set([1, 2, 3].map(macOf));
  return [
    ...kernel.links.filter(({ mac }) => !nics.has(mac)),
    ...kernel.addresses.filter(({ link }) => !ours(link)),
    ...kernel.routes.filter(({ links }) => !links.some(ours)),
    ...kernel.rules.filter(
      ({ from, table = 0, priority }) =>
        !(ips.has(ipOf(from)) && table === priority - 10_000 && table >= 100 && table < 110),
    ),
  ]
    .map((item) => JSON.stringify(item))
    .toSorted();
}

async function tell({ family, set, intents, refused }: Story): Promise<void> {
  using bed = await AgentOnModel.open(hostWith(set));
  const { box } = bed;
  makeFamily(box.root, family, 2);
  const ask = (generation: number, interfaces: readonly RequestInterface[], more = {}) =>
    bed.run(request(interfaces, { protocol: 3, generation, family, ...more }));
  const picture = () => {
    const { links, addresses, routes, rules, settings } = box.kernel;
    const items = [links, addresses, routes, rules, [...settings]].flat();
    const { kernel, files } = pictureOf(
      box.root,
      items.map((item) => JSON.stringify(item)).toSorted(),
    );
    const kept = Object.entries(files).filter(([path]) => path.startsWith('/etc/'));
    return { kernel, files: Object.fromEntries(kept) };
  };
  const before = picture();
  const foreign = foreignOf(box.kernel, intents);
  const untouched = (when: string) => expect(foreignOf(box.kernel, intents), when).toEqual(foreign);

  const begun = box.done.length;
  let hit = false;
  box.refuses = (_, count) => {
    if (hit || count !== begun + refused) return false;
    hit = true;
    return true;
  };
  const failed = await ask(1, intents[0]);
  expect(failed.nics.map(({ reason }) => reason)).not.toContain('RollbackFailed');
  untouched(`line ${refused} was refused`);
  box.refuses = () => false;
  for (const [at, intent] of intents.entries()) {
    await ask(2 + at, intent);
    untouched(`intent ${at}`);
    const first = picture();
    await ask(2 + at, intent, { attempt: 1 });
    expect(bed.effects.filter((name) => !/^agent\.(result|state)\./.test(name))).toEqual([]);
    expect(picture()).toEqual(first);
  }
  const clean = await ask(4, [], { action: 'cleanup' });
  expect(clean.outcome, JSON.stringify(clean)).toBe('ok');
  expect(picture()).toEqual(before);
  expect(readState(box.root).nics).toEqual([]);
}

test('whatever others have stays over refusal, change and removal; twice is once; a clean-up leaves what was before', async () => {
  await fc.assert(fc.asyncProperty(someStory, tell), { numRuns });
}, 3_600_000);
