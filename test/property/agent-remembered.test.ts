import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentDeps } from '../../src/agent/agent.ts';
import type { Snapshot } from '../../src/agent/snapshot.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { address, entry, macOf, request, rule } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';

let bed: AgentOnModel;
let generation: number;
afterEach(() => bed[Symbol.dispose]());

function ask(
  interfaces: readonly RequestInterface[],
  more: Partial<JobRequest> = {},
  deps: Partial<AgentDeps> = {},
) {
  generation += 1;
  return bed.run(request(interfaces, { generation, protocol: 3, ...more }), deps);
}

async function well(interfaces: readonly RequestInterface[]): Promise<void> {
  expect(await ask(interfaces)).toMatchObject({ outcome: 'ok', warnings: [] });
}

/** Somebody else, or the network manager, changes the kernel. */
function others(change: (kernel: Snapshot) => Partial<Snapshot>): void {
  bed.box.kernel = { ...bed.box.kernel, ...change(bed.box.kernel) };
}

/** NetworkManager sets the rule of the second NIC again. */
function remember(): void {
  others(({ rules }) => ({ rules: [...rules, rule('10.0.0.2/32', 101, 10_101)] }));
}

/** What was done to rules of this NIC's first address. */
const linesOf = (n: number) =>
  bed.box.done
    .filter((line) => line.includes(`from 10.0.0.${n}/32`))
    .map((line) => line.split(' ')[1]);

const ruleOf = (n: number) => bed.box.kernel.rules.filter(({ from }) => from === `10.0.0.${n}/32`);

/** NICs 1 and 2 were there at the boot, and the second one has left since. */
async function secondHasLeft(): Promise<void> {
  generation = 0;
  bed = await AgentOnModel.open();
  await well([entry(1), entry(2)]);
  bed.anotherBoot();
  await well([entry(1)]);
  expect(ruleOf(2)).toEqual([]);
}

/** Before the kernel does the first line of rules. */
function beforeRules(act: () => void): void {
  let done = false;
  bed.box.refuses = (line) => {
    if (!done && line.includes('rule ')) act();
    done ||= line.includes('rule ');
    return false;
  };
}

describe('a NIC that leaves', () => {
  test.each([
    ['comes', 'ok', [entry(1), entry(3)]],
    ['comes and one that changes', 'ok', [entry(1, { addresses: ['10.0.0.9/24'] }), entry(3)]],
    ['comes and one that cannot leave', 'partial', [entry(3)]],
  ])('has no rule in the end though one that %s sets it again', async (_, outcome, wanted) => {
    generation = 0;
    bed = await AgentOnModel.open();
    await well([entry(1), entry(2)]);
    bed.anotherBoot();
    let disturbed = false;
    bed.box.refuses = (line) => {
      if (!disturbed && line.includes('from 10.0.0.3/32')) remember();
      disturbed ||= line.includes('from 10.0.0.3/32');
      return outcome === 'partial' && line.startsWith('addr del 10.0.0.1/');
    };
    expect((await ask(wanted)).outcome).toBe(outcome);
    expect(disturbed).toBe(true);
    expect(ruleOf(2)).toEqual([]);
    expect(linesOf(2)).toEqual(['add', 'del', 'del']);
  });
});

/** The agent dies once it has written what it has in hand. */
async function dies(interfaces: readonly RequestInterface[], index = 1): Promise<void> {
  let dead = false;
  const perform: AgentDeps['perform'] = async (name, write) => {
    dead ||= name === 'agent.kernel.batch';
    if (dead) throw new Error('dead');
    return write();
  };
  await expect(ask(interfaces, {}, { perform })).rejects.toThrow('dead');
  expect(existsSync(journal(index))).toBe(true);
}

const keepingJournals: AgentDeps['perform'] = async (name, write) => {
  if (name === 'agent.journal.remove') throw new Error('EIO');
  return write();
};

const journal = (index = 1) => join(bed.box.root, `var/lib/multinic/journal/${index}.json`);

/** Others have their turn whenever `ip` has had its. */
const othersAfter = (act: (lines: readonly string[]) => void): Partial<AgentDeps> => ({
  startIp: () => ({
    run: async (lines) => {
      const answer = await bed.box.run(lines);
      act(lines);
      const { links, addresses, routes, rules, neighbours } = bed.box.kernel;
      return 'seen' in answer ? { seen: { links, addresses, routes, rules, neighbours } } : answer;
    },
    [Symbol.dispose]: () => undefined,
  }),
});

describe('of a NIC that has left nothing but rules is ours', () => {
  const theirs = address('ens2', '192.168.7.1/24', { broadcast: '192.168.7.255' });

  test('a foreign address deleted while rules go is not set again', async () => {
    await secondHasLeft();
    remember();
    others(({ links, addresses }) => ({
      links: links.map((link) => (link.mac === macOf(2) ? { ...link, up: true } : link)),
      addresses: [...addresses, theirs],
    }));
    beforeRules(() =>
      others(({ addresses }) => ({
        addresses: addresses.filter(({ cidr }) => cidr !== theirs.cidr),
      })),
    );
    expect(await ask([entry(1)])).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(bed.box.kernel.addresses).not.toContainEqual(theirs);
    expect(ruleOf(2)).toEqual([]);
  });

  test('nor is that set again by who ends an interrupted change', async () => {
    await secondHasLeft();
    remember();
    others(({ addresses }) => ({ addresses: [...addresses, theirs] }));
    await dies([entry(1)]);
    others(({ addresses }) => ({
      addresses: addresses.filter(({ cidr }) => cidr !== theirs.cidr),
    }));
    await well([entry(1)]);
    expect(bed.box.kernel.addresses).not.toContainEqual(theirs);
    expect(ruleOf(2)).toEqual([]);
  });

  test('it stays as it is where an interrupted change of its rules cannot end', async () => {
    await secondHasLeft();
    remember();
    await dies([entry(1)]);
    others(({ links }) => ({
      links: links.map((link) => (link.mac === macOf(2) ? { ...link, up: true, mtu: 9000 } : link)),
    }));
    const { links } = bed.box.kernel;
    bed.box.refuses = (line) => line.startsWith('rule ');
    const answer = await ask([entry(1)]);
    expect(answer.nics).toMatchObject([{ state: 'Configured' }, { reason: 'ApplyFailed' }]);
    expect(answer.known).toHaveLength(1);
    bed.box.refuses = () => false;
    await well([entry(1)]);
    expect(ruleOf(2)).toEqual([]);
    expect(bed.box.kernel.links).toEqual(links);
  });

  test('its number is another one’s, whatever becomes of its rules', async () => {
    await secondHasLeft();
    const heir = entry(3, { index: 1 });
    await well([entry(1), heir]);
    remember();
    await dies([entry(1), heir]);
    others(({ rules }) => ({ rules: rules.filter(({ from }) => from !== '10.0.0.2/32') }));
    const { links } = bed.box.kernel;
    const answer = await ask([entry(1), heir], {}, { perform: keepingJournals });
    expect(answer.nics.map(({ state }) => state)).toEqual(['Configured', 'Configured']);
    expect(bed.box.kernel.links).toEqual(links);
    await well([entry(1), heir]);
    expect(existsSync(journal())).toBe(false);
  });

  test('a boot has the manager forget them: the same rule is somebody else’s then', async () => {
    await secondHasLeft();
    remember();
    await dies([entry(1)]);
    for (const name of ['state.json', 'journal/1.json']) bed.anotherBoot(name);
    const theirsNow = ruleOf(2);
    await well([entry(1)]);
    expect(ruleOf(2)).toEqual(theirsNow);
  });
});

describe('a rule that NetworkManager has set again', () => {
  test.each([
    ['waited for', [entry(2)], {}],
    ['of an entry that cannot be used', [], { keep: [macOf(2)] }],
  ])(
    'goes with the next change, and nobody has lost it: of a NIC that is %s',
    async (_, more, keep) => {
      await secondHasLeft();
      others(({ links }) => ({ links: links.filter(({ mac }) => mac !== macOf(2)) }));
      remember();
      const moved = entry(1, { addresses: ['10.0.0.21/24'] });
      const answer = await ask([moved, ...more], keep);
      expect(answer.nics[0]).toMatchObject({ state: 'Configured' });
      expect(answer.warnings).toEqual([]);
      expect(ruleOf(2)).toEqual([]);
    },
  );

  test('goes also when the NIC has come back under another number and left again', async () => {
    await secondHasLeft();
    await well([entry(1), entry(2, { index: 3, addresses: ['10.0.0.22/24'] })]);
    await well([entry(1)]);
    remember();
    await well([entry(1)]);
    expect(ruleOf(2)).toEqual([]);
  });

  describe('stays with the rest of what is there', () => {
    const moved = entry(1, { addresses: ['10.0.0.21/24'] });
    const inUse = address('multinic1', '192.168.7.1/24', { broadcast: '192.168.7.255' });

    test('of a NIC that is back and refused', async () => {
      await secondHasLeft();
      const back = entry(2, { addresses: ['10.0.0.22/24'] });
      await well([entry(1), back]);
      remember();
      others(({ addresses }) => ({ addresses: [...addresses, inUse] }));
      bed.box.done.length = 0;
      const { nics } = await ask([moved, back]);
      expect(nics).toMatchObject([{ state: 'Configured' }, { reason: 'NICInUse' }]);
      expect(bed.box.done.filter((line) => line.includes('10.0.0.2/'))).toEqual([]);
    });

    test('of one that is back under our name and of which nothing can be said', async () => {
      await secondHasLeft();
      remember();
      await bed.box.run(['link set dev ens2 name multinic1']);
      const { nics } = await ask([moved], { keep: [macOf(2)] });
      expect(nics).toMatchObject([{ message: '', state: 'Configured' }]);
      expect(ruleOf(2)).toHaveLength(1);
    });
  });

  describe('costs the NICs that a change is about nothing', () => {
    test('however often it is set again, what one of them lacks is made up for', async () => {
      await secondHasLeft();
      let changes = 0;
      const deps = othersAfter((lines) => {
        if (lines.length === 0 || ++changes > 4) return;
        if (changes < 4) remember();
        else others(({ rules }) => ({ rules: rules.filter(({ from }) => from !== '10.0.0.3/32') }));
      });
      expect((await ask([entry(1), entry(3)], {}, deps)).outcome).toBe('ok');
      expect(changes).toBeGreaterThan(4);
      expect([ruleOf(2).length, ruleOf(3).length]).toEqual([0, 1]);
    });

    test('while it stays, an address of IPv6 has its time to be probed', async () => {
      await secondHasLeft();
      remember();
      bed.box.refuses = (line) => line.includes('rule del from 10.0.0.2');
      const six = 'fd00::3/64';
      const end = bed.clock.monotonicMs() + 10_000;
      const deps = othersAfter(() =>
        others(({ addresses }) => ({
          addresses: addresses.map(({ probe: _probe, ...each }) =>
            each.cidr === six && bed.clock.monotonicMs() < end
              ? { ...each, probe: 'going on' as const }
              : each,
          ),
        })),
      );
      const { nics } = await ask(
        [entry(1), entry(3, { addresses: ['10.0.0.3/24', six] })],
        {},
        deps,
      );
      expect(nics).toContainEqual(expect.objectContaining({ index: 2, state: 'Configured' }));
      expect(bed.clock.monotonicMs()).toBeGreaterThanOrEqual(end);
    });
  });
});

describe('a rule of the number and the address that a NIC had before', () => {
  const heir = entry(3, { index: 1, addresses: ['10.0.0.2/24'] });
  const back = entry(2, { index: 3, addresses: ['10.0.0.4/24'] });

  test.each([
    ['comes back before', [entry(1), back]],
    ['comes back after', [entry(1), heir]],
    ['comes back together with', [entry(1)]],
  ])('is the heir’s alone, also where the NIC %s it', async (_, first) => {
    await secondHasLeft();
    bed.box.done.length = 0;
    await well(first);
    const all = [entry(1), back, heir];
    await well(all);
    expect([2, 3, 4].map((n) => ruleOf(n).length)).toEqual([1, 0, 1]);
    const check = await bed.run(request(all, { generation, protocol: 3, action: 'check' }));
    expect(check.nics.map(({ state }) => state)).toEqual(all.map(() => 'Configured'));
    await well([entry(1), heir]);
    expect([2, 4].map((n) => ruleOf(n).length)).toEqual([1, 0]);
    expect(linesOf(2)).toEqual(['add']);
    await well([entry(1), back]);
    expect([2, 4].map((n) => ruleOf(n).length)).toEqual([0, 1]);
  });

  test('goes with the heir’s address, whoever had it before', async () => {
    await secondHasLeft();
    await well([entry(1), heir, back]);
    bed.box.done.length = 0;
    await well([entry(1), { ...heir, addresses: ['10.0.0.9/24'] }, back]);
    expect(linesOf(2)).toEqual(['del']);
    expect([2, 4, 9].map((n) => ruleOf(n).length)).toEqual([0, 1, 1]);
  });

  test('stays where nothing can be said of the heir', async () => {
    await secondHasLeft();
    await well([entry(1), heir]);
    bed.box.done.length = 0;
    expect((await ask([entry(1), back], { keep: [macOf(3)] })).outcome).toBe('ok');
    expect([linesOf(2), linesOf(4)]).toEqual([[], ['add']]);
  });

  test('stays where the NIC’s change is interrupted', async () => {
    await secondHasLeft();
    await well([entry(1), heir]);
    await dies([entry(1), heir, back], 3);
    bed.box.done.length = 0;
    await well([entry(1), heir, back]);
    expect([linesOf(2), linesOf(4)]).toEqual([[], ['add']]);
  });

  test('stays where the heir’s change is undone', async () => {
    await secondHasLeft();
    await well([entry(1), heir]);
    bed.box.refuses = (line) => line.startsWith('addr replace 10.0.0.9');
    const answer = await ask([moved, { ...heir, addresses: ['10.0.0.9/24'] }]);
    expect(answer.outcome).toBe('partial');
    expect([2, 21].map((n) => ruleOf(n).length)).toEqual([1, 1]);
  });

  /** The heir gets this address from a run whose disk is full behind the commit, and is in hand. */
  async function inHand(addresses: string[]): Promise<Partial<AgentDeps>> {
    await secondHasLeft();
    await well([entry(1), { ...heir, addresses: ['10.0.0.5/24'] }]);
    let isFull = false;
    const filling: AgentDeps['perform'] = async (name, write) => {
      if (isFull && name !== 'agent.result.write') throw new Error('EIO');
      const done = await write();
      isFull ||= name === 'agent.file.commit';
      return done;
    };
    await ask([entry(1), { ...heir, addresses }], {}, { perform: filling });
    const perform: AgentDeps['perform'] = async (name, write) => {
      isFull &&= name !== 'agent.journal.write';
      if (isFull) throw new Error('EIO');
      return write();
    };
    return { perform };
  }
  const moved = entry(1, { addresses: ['10.0.0.21/24'] });
  const inPart = [{ state: 'Configured' }, { reason: 'RollbackFailed' }];

  test('stays while the heir is in hand', async () => {
    const deps = await inHand(['10.0.0.2/24']);
    expect((await ask([moved, heir], {}, deps)).nics).toMatchObject(inPart);
    expect([2, 21].map((n) => ruleOf(n).length)).toEqual([1, 1]);
    await well([moved, heir]);
  });

  test('goes while the heir is in hand with another address, and nobody has lost it', async () => {
    const deps = await inHand(['10.0.0.6/24']);
    remember();
    const answer = await ask([moved, { ...heir, addresses: ['10.0.0.6/24'] }], {}, deps);
    expect(answer.nics).toMatchObject([...inPart, { mac: macOf(2), reason: 'RollbackFailed' }]);
    expect([2, 6, 21].map((n) => ruleOf(n).length)).toEqual([0, 1, 1]);
    expect(answer.warnings).toEqual([]);
  });

  test('does not keep the heir from its number when the manager sets another one again', async () => {
    await secondHasLeft();
    await well([entry(1), entry(3, { index: 1 })]);
    others(({ links }) => ({ links: links.filter(({ mac }) => mac !== macOf(2)) }));
    remember();
    const answer = await ask([entry(1), entry(3, { index: 1 }), back]);
    const states = answer.nics.filter(({ state }) => state !== 'Removed').map(({ state }) => state);
    expect(states).toEqual(['Configured', 'Configured', 'Pending']);
    expect([2, 3].map((n) => ruleOf(n).length)).toEqual([0, 1]);
  });
});
