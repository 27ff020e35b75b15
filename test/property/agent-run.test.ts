import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readJournals, readState } from '../../src/agent/apply/memory.ts';
import { recover } from '../../src/agent/apply/recover.ts';
import { transact } from '../../src/agent/apply/transaction.ts';
import { observeHost } from '../../src/agent/observe/host.ts';
import { batchLine } from '../../src/agent/planning/operation.ts';
import { planAll } from '../../src/agent/planning/plan.ts';
import { isDone } from '../../src/agent/planning/unit.ts';
import type { Snapshot } from '../../src/agent/snapshot.ts';
import { atBoot, withNic } from '../../src/agent/state.ts';
import type { Effect } from '../../src/api/effects.ts';
import type { JobRequest } from '../../src/api/job.ts';
import type { Perform } from '../../src/process/effects.ts';
import { address, entry, host, link, request, route } from '../fixtures/agent-samples.ts';
import { scaled } from '../speed.ts';
import { ModelHost, parsedLine } from './model-host.ts';

const start = request([entry(1), entry(2)]);
const change = request([entry(1, { mtu: 1400, addresses: ['10.0.0.101/24'] }), entry(3)], {
  generation: 2,
});

let box: ModelHost;
afterEach(() => box[Symbol.dispose]());

/** Dozens of runs, each with its own files. */
const patience = scaled(120_000);

const fresh = () => host([link(1), link(2), link(3)]);
const doing: Perform<Effect> = async (_, write) => write();

/** Takes the steps of a run: recovery, removals, the rest. */
async function run(asked: JobRequest, effect = doing) {
  const context = box.context(asked, effect);
  const { macs, run: moment } = context;
  const journals = readJournals(box.root);
  const { state, inHand, claims } = await recover(
    journals,
    atBoot(readState(box.root), moment.bootId),
    context,
  );
  const on = await observeHost(context, macs, state);
  const plan = planAll({
    request: asked,
    state: claims.reduce(withNic, state),
    host: on,
    backend: context.backend,
    bootId: moment.bootId,
    inHand,
  });
  const pending = [...plan.removal.units, ...plan.apply.units].filter((unit) => !isDone(unit));
  const removals = pending.filter(({ action }) => action === 'remove');
  const removed = await transact(removals, state, on, context);
  const rest = pending.filter(({ action }) => action === 'apply');
  const applied = await transact(rest, removed.state, on, context);
  const failures = [...removed.failures.values(), ...applied.failures.values()];
  return { plan, pending, failures };
}

const texts = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).toSorted();

/** All that a host is, as far as it can be compared. */
function picture({ links, addresses, routes, rules, settings }: Snapshot) {
  const names = readdirSync(join(box.root, 'etc/netplan')).filter((name) => name !== 'backup');
  const files = names.map((name) => [
    name,
    readFileSync(join(box.root, 'etc/netplan', name), 'utf8'),
  ]);
  return [texts(links), texts(addresses), texts(routes), texts(rules), texts([...settings]), files];
}

const journals = () => {
  const path = join(box.root, 'var/lib/multinic/journal');
  return existsSync(path) ? readdirSync(path) : [];
};

describe('a run over the model of the kernel', () => {
  test('gives what was asked, remembers it, and finds nothing to do after it', async () => {
    box = await ModelHost.of(fresh());
    const { failures } = await run(start);
    expect(failures).toEqual([]);
    expect(journals()).toEqual([]);
    const { nics } = readState(box.root);
    expect(nics).toMatchObject([
      {
        originalName: 'ens1',
        original: {
          mtu: 1500,
          up: false,
          addrGenMode: 'eui64',
          settings: { 'ipv6.accept_ra': '1' },
        },
      },
      { originalName: 'ens2', boot: { addresses: [] } },
    ]);
    const writes: string[] = [];
    const again = await run(start, async (name, write) => {
      writes.push(name);
      return write();
    });
    expect([again.pending, writes]).toEqual([[], []]);
  });

  test('takes all of it back, and the host is as it was', async () => {
    box = await ModelHost.of(fresh());
    const before = picture(box.kernel);
    await run(start);
    await run(request([], { generation: 3, action: 'cleanup' }));
    expect(picture(box.kernel)).toEqual(before);
    expect(readState(box.root).nics).toEqual([]);
  });

  test(
    'that is refused at any line leaves each NIC old or new, and the next one ends right',
    async () => {
      box = await ModelHost.of(fresh());
      await run(start);
      await run(change);
      const wanted = picture(box.kernel);
      const total = box.done.length;
      box[Symbol.dispose]();
      box = await ModelHost.of(fresh());
      await run(start);
      const first = box.done.length;
      for (let at = first; at < total; at++) {
        box[Symbol.dispose]();
        box = await ModelHost.of(fresh());
        await run(start);
        let hits = 0;
        box.refuses = (_, count) => count === at && hits++ === 0;
        const { failures } = await run(change);
        // Nothing else can be wrong than what was refused, and that was once.
        expect(
          failures.map(({ reason }) => reason),
          `line ${at}`,
        ).not.toContain('RollbackFailed');
        expect(journals()).toEqual([]);
        expect((await run({ ...change, attempt: 1 })).failures).toEqual([]);
        expect(picture(box.kernel), `line ${at}`).toEqual(wanted);
      }
    },
    patience,
  );

  test(
    'that ends at any write is recovered from, and the next one ends right',
    async () => {
      box = await ModelHost.of(fresh());
      await run(start);
      let moments = 0;
      await run(change, async (_, write) => {
        moments += 1;
        return write();
      });
      const wanted = picture(box.kernel);
      expect(moments).toBeGreaterThan(15);
      for (let at = 0; at < moments * 2; at++) {
        box[Symbol.dispose]();
        box = await ModelHost.of(fresh());
        await run(start);
        await died(change, at);
        expect((await run({ ...change, attempt: 1 })).failures, `moment ${at}`).toEqual([]);
        expect(picture(box.kernel), `moment ${at}`).toEqual(wanted);
        expect(journals()).toEqual([]);
      }
    },
    patience,
  );

  test('does not touch a NIC that became the way out while it was in hand', async () => {
    box = await ModelHost.of(fresh());
    await died(start, 2 * 4 + 1);
    expect(journals()).not.toEqual([]);
    const theirs = {
      addresses: [...box.kernel.addresses, address('multinic0', '10.50.0.2/24')],
      routes: [
        ...box.kernel.routes,
        route('0.0.0.0/0', 'multinic0', { via: '10.50.0.1', metric: 5 }),
      ],
    };
    box.kernel = { ...box.kernel, ...theirs };
    const lines = box.done.length;
    const { plan } = await run({ ...start, interfaces: start.interfaces.slice(0, 1) });
    expect(plan.apply.refused).toMatchObject([{ refusal: { reason: 'PrimaryNIC' } }]);
    expect(box.done.slice(lines).filter((line) => line.includes('multinic0'))).toEqual([]);
    expect(readState(box.root).nics).toMatchObject([{ addresses: ['10.0.0.1/24'] }]);
  });
});

describe('a NIC in hand', () => {
  const moved = request([entry(1, { addresses: ['10.0.0.101/24'] })], { generation: 2 });

  async function stuck() {
    box = await ModelHost.of(fresh());
    await run(request([entry(1)]));
    box.refuses = (line) => /^(rule|addr) del/.test(line);
    const { failures } = await run(moved);
    expect(failures).toMatchObject([{ reason: 'RollbackFailed' }]);
    expect(journals()).toEqual(['0.json']);
  }

  test('that cannot be brought back is brought on from what is there', async () => {
    await stuck();
    box.refuses = (line) => /^(rule|addr) del.*10\.0\.0\.101/.test(line);
    expect((await run({ ...moved, generation: 3 })).failures).toEqual([]);
    const addresses = box.kernel.addresses.filter(({ link: name }) => name === 'multinic0');
    expect(addresses).toMatchObject([{ cidr: '10.0.0.101/24' }]);
    expect(box.kernel.rules).toMatchObject([{ from: '10.0.0.101/32' }]);
    expect(journals()).toEqual([]);
  });

  test('is left to the files after a reboot, and its old file is back', async () => {
    await stuck();
    const file = join(box.root, 'var/lib/multinic/journal/0.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"bootId":"[^"]*"/g, '"bootId":"old"'));
    box.refuses = () => false;
    const lines = box.done.length;
    const context = box.context(moved, doing);
    await recover(readJournals(box.root), readState(box.root), context);
    expect(box.done.slice(lines)).toEqual([]);
    expect(journals()).toEqual([]);
    expect(picture(box.kernel).toString()).toContain('10.0.0.1/24');
  });
});

/** The journals say that they are of the boot before this one. */
function asBeforeBoot(): void {
  for (const name of journals()) {
    const file = join(box.root, 'var/lib/multinic/journal', name);
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/"bootId":"[^"]*"/g, '"bootId":"old"'),
    );
  }
}

async function recovered(asked: JobRequest) {
  const context = box.context(asked, doing);
  const state = atBoot(readState(box.root), context.run.bootId);
  return (await recover(readJournals(box.root), state, context)).state;
}

/** Ends behind the commit: the journal is there and state.json is of before. */
async function committed(asked: JobRequest): Promise<void> {
  box = await ModelHost.of(fresh());
  await run(request([entry(1)]));
  const path = join(box.root, 'etc/netplan/90-multinic0.yaml');
  const isOld = () => existsSync(path) && readFileSync(path, 'utf8').includes('10.0.0.1/24');
  for (let at = 0; isOld(); at++) await died(asked, at);
  expect(journals()).not.toEqual([]);
  asBeforeBoot();
}

describe('a commit that a reboot followed', () => {
  const moved = request([entry(1, { addresses: ['10.0.0.101/24'] })], { generation: 2 });

  test('has the manager hold what was committed', async () => {
    await committed(moved);
    const { bootId } = box.context(moved, doing).run;
    expect((await recovered(moved)).nics).toMatchObject([
      { addresses: ['10.0.0.101/24'], boot: { bootId, addresses: ['10.0.0.101/24'] } },
    ]);
  });

  test('leaves a NIC that was removed to whoever took it since', async () => {
    await committed(request([], { generation: 2 }));
    // The host booted without the file, and leases an address for every NIC.
    box.kernel = {
      ...fresh(),
      addresses: [...fresh().addresses, address('ens1', '10.0.0.77/24', { temporary: true })],
    };
    expect((await recovered(request([], { generation: 2 }))).nics).toEqual([]);
    expect(journals()).toEqual([]);
  });
});

test('a NIC in hand that others have come to use is left alone', async () => {
  box = await ModelHost.of(fresh());
  await died(start, 2 * 4 + 1);
  expect(journals()).not.toEqual([]);
  const links = box.kernel.links.map((each) =>
    each.name === 'multinic0' ? { ...each, master: 'br0' } : each,
  );
  box.kernel = { ...box.kernel, links };
  const lines = box.done.length;
  await recovered(start);
  expect(box.done.slice(lines).filter((line) => line.includes('multinic0'))).toEqual([]);
});

test.each([1, 2, 3])(
  'a NIC of which nothing was done by moment %i keeps the lease that it got since',
  async (at) => {
    box = await ModelHost.of(fresh());
    await died(request([entry(1)]), at);
    expect(journals()).not.toEqual([]);
    // A cloud's DHCP gives a port the very address that is asked for.
    const lease = address('ens1', '10.0.0.1/24', { temporary: true });
    const links = box.kernel.links.map((each) =>
      each.name === 'ens1' ? { ...each, up: true } : each,
    );
    box.kernel = { ...box.kernel, links, addresses: [...box.kernel.addresses, lease] };
    const { plan } = await run(request([entry(1)], { attempt: 1 }));
    expect(plan.apply.refused).toMatchObject([{ refusal: { reason: 'LeasedByHost' } }]);
    expect(box.done).toEqual([]);
    expect(readState(box.root).nics).toEqual([]);
    expect(journals()).toEqual([]);
  },
);

test('the request of what is in hand has been seen, whatever becomes of it', async () => {
  box = await ModelHost.of(fresh());
  await died({ ...start, generation: 7 }, 2 * 4 + 1);
  expect(readState(box.root)).not.toHaveProperty('fence');
  await recovered(start);
  expect(readState(box.root).fence).toEqual({ uid: 'uid-1', generation: 7 });
});

test('a NIC in hand that has got a twin is left alone', async () => {
  box = await ModelHost.of(fresh());
  await died(start, 2 * 4 + 1);
  expect(journals()).not.toEqual([]);
  const twin = link(1, { index: 3, name: 'twin0', up: true, mtu: 1500 });
  box.kernel = { ...box.kernel, links: [twin, ...box.kernel.links] };
  const lines = box.done.length;
  await recovered(start);
  expect(box.done.slice(lines).filter((line) => line.includes('twin0'))).toEqual([]);
  expect(box.kernel.links[0]).toEqual(twin);
});

/** A run that ends without a word before, or after, one of its writes. */
async function died(asked: JobRequest, at: number): Promise<void> {
  let moment = 0;
  const inFlight: Promise<unknown>[] = [];
  await new Promise<void>((gone) => {
    const never = new Promise<never>(() => undefined);
    const end = () => {
      gone();
      return never;
    };
    const effect: Perform<Effect> = async (_, write) => {
      const mine = moment;
      moment += 2;
      if (mine > at) return never;
      if (mine === at) return end();
      const writing = write();
      inFlight.push(writing);
      const written = await writing;
      return mine + 1 === at ? end() : written;
    };
    void run(asked, effect).then(() => gone());
  });
  // What was on its way to the disk is there or not by the time of the next run.
  await Promise.allSettled(inFlight);
}

test('each line of a batch says what its operation is', async () => {
  box = await ModelHost.of(fresh());
  const { pending } = await run(start);
  const operations = pending.flatMap((unit) => unit.change.operations);
  expect(operations.map((each) => parsedLine(batchLine(each)))).toEqual(operations);
});
