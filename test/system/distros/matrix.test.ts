import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BoxKind } from '../../../rig/hosts/box/box.ts';
import type { JobResult } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually as eventuallyEvery } from '../../host/eventually.ts';
import { rotated } from '../../rotation.ts';
import { scaled } from '../../speed.ts';
import { Cell, plugged } from './cell.ts';
import { type Intent, intents } from './intents.ts';
import {
  difference,
  foreignStateOf,
  lineDifference,
  type NicsState,
  stateOf,
} from './nic-state.ts';

/**
 * Set by the long suite: the Debian release in the boxes, or `full` for all. CI runs a part of the intents on bookworm, and the next part
 * in the next run.
 */
const wanted = process.env['MULTINIC_BOXES'];
const debians = ['bookworm', 'trixie', 'bullseye'] as const;
const suites: readonly BoxKind['suite'][] = debians.filter(
  (suite) => wanted === 'full' || suite === (wanted ?? 'bookworm'),
);
const profiles: readonly BoxKind['profile'][] = ['netplan', 'networkd', 'keyfile'];
const kinds: readonly BoxKind[] = [
  ...suites.flatMap((suite) => profiles.map((profile) => ({ suite, profile }))),
  { suite: 'bookworm', profile: 'ifcfg' },
];
const chosen = wanted
  ? intents
  : rotated(
      'intents on hosts',
      intents.filter(({ always }) => always),
      3,
      ({ name }) => name,
    );
// In the full run a single test runs all intents.
const longest = scaled(wanted ? 3_600_000 : 300_000);
/** Boot time of boxes that boot side by side on busy cores. */
const longestBoot = 120_000;

/** Each assertion starts processes in four boxes on shared cores: hence not every 20 ms. */
function eventually(assertion: () => Promise<void>, patienceMs = 20_000): Promise<void> {
  return eventuallyEvery(assertion, scaled(patienceMs), 250);
}

/** State in the first cell by intent: all other cells must have the same state. */
const had = new Map<string, NicsState>();
/** Changes to foreign state when the manager restarts on a node without our NICs. */
const withoutUs = new Map<Cell, readonly string[]>();

describe('hosts in boxes', () => {
  let cells: readonly Cell[] = [];

  /** Runs work on all boxes concurrently; each box starts bare, with no MultiNIC state in the network manager. */
  async function onEach(work: (cell: Cell) => Promise<void>): Promise<void> {
    const ends = await Promise.allSettled(
      cells.map(async (cell) => {
        await reset(cell);
        await cell.reboot();
        await settled(cell);
        await work(cell);
      }),
    );
    const problems = ends.flatMap((end, at) =>
      end.status === 'rejected' ? [`${cells[at]?.title}: ${complaint(end.reason)}`] : [],
    );
    expect(problems.join('\n\n')).toBe('');
  }

  beforeAll(async () => {
    // In order: the tests share their objects.
    for (const kind of kinds) cells = [...cells, await Cell.start(kind)];
    await onEach(async (cell) => {
      await foreign(cell);
      await restart(cell);
      withoutUs.set(cell, await foreignStateOf(cell));
    });
  });

  afterAll(async () => {
    await Promise.all(cells.map((cell) => cell[Symbol.asyncDispose]()));
  });

  test.each(chosen)(
    '[RW-19] [RW-28] [RW-45] [RW-88] $name: one state in all families, after apply, boot and restart',
    async (intent) => {
      await onEach((cell) => expectSame(cell, intent));
    },
  );

  test('a node is bare after the last NIC is gone, and stays so over a boot', async () => {
    await onEach(async (cell) => {
      await eventually(async () => {
        const links = await cell.json('addr', 'show');
        for (const [name, mac] of Object.entries(plugged)) {
          const link = links.find(({ address }) => address === mac);
          expect(link).toMatchObject({ ifname: name });
        }
      });
      expect(Object.keys(await cell.files()).filter((path) => path.includes('multinic'))).toEqual(
        [],
      );
    });
  });

  test('a NIC that was removed and configured differently has the new configuration, although the network manager remembers the former', async () => {
    await onEach(async (cell) => {
      await ask(cell, asOther);
      const other = await stateOf(cell);
      await reset(cell);
      await ask(cell, asFirst);
      await cell.reboot();
      await settled(cell);
      await reset(cell);
      await ask(cell, asOther);
      expect(difference(await stateOf(cell), other), 'when the agent has ended').toEqual([]);
      await cell.reboot();
      await eventually(async () => expect(difference(await stateOf(cell), other)).toEqual([]));
    });
  });

  test("a removed NIC's configuration does not return with the next NIC, although the network manager remembers it", async () => {
    await onEach(async (cell) => {
      await ask(cell, [...asOther, second]);
      await cell.reboot();
      await settled(cell);
      // NetworkManager sets the rules of all profiles when any NIC is activated.
      const next = [moved, third];
      await ask(cell, next);
      const rules = ['10100: from 10.1.0.31', '10100: from fd01::31', '10102: from 10.2.0.23'];
      const found = (await stateOf(cell)).rules.map((rule) => rule.split(' lookup')[0]);
      expect(found).toEqual(rules);
      const check = await cell.agent(request(next, { protocol: 3, action: 'check' }));
      expect(openIn(check.result)).toEqual([]);
    });
  });

  test(
    '[RW-15] the primary NIC has no events and no lost pings, and foreign state stays',
    async () => {
      await onEach(async (cell) => {
        await foreign(cell);
        const before = await foreignStateOf(cell);
        const events = await cell.eventsOnPrimary(async () => {
          const unanswered = await cell.pingsUnanswered(async () => {
            for (const { steps } of chosen) {
              for (const step of steps) await ask(cell, step);
              await reset(cell);
            }
          });
          expect(unanswered).toEqual([]);
        });
        expect(events).toEqual([]);
        expect(lineDifference(await foreignStateOf(cell), before)).toEqual([]);
      });
    },
    longest,
  );
});

const mac = plugged.ens5;
const asFirst = [
  nic(0, mac, '10.0.0.11/16', {
    routing: 'main',
    routes: [{ to: '10.77.0.0/24', via: '10.0.0.253' }],
  }),
];
const asOther = [nic(0, mac, '10.1.0.21/16', { gateway: '10.1.0.254' })];

const second = nic(1, plugged.ens6, '10.0.0.22/16', { gateway: '10.0.0.254' });
const third = nic(2, plugged.ens7, '10.2.0.23/16', { gateway: '10.2.0.254' });
const moved = nic(0, mac, '', {
  addresses: ['10.1.0.31/16', 'fd01::31/64'],
  gateway: '10.1.0.254',
});

async function ask(cell: Cell, step: Intent['steps'][number]): Promise<void> {
  const { result, log } = await cell.agent(request([...step], { protocol: 3 }));
  expect([result.outcome, result.family, ...openIn(result)], log).toEqual(['ok', cell.family]);
}

function complaint(error: unknown): string {
  const { message, actual } = error as { readonly message: string; readonly actual?: unknown };
  return `${message}\n${actual === undefined ? '' : JSON.stringify(actual, undefined, 1)}`;
}

function openIn({ nics }: JobResult): string[] {
  return nics
    .filter(({ state }) => state === 'Failed' || state === 'Pending')
    .map(({ index, reason, message }) => `${index} ${reason}: ${message}`);
}

async function reset(cell: Cell): Promise<void> {
  const { result, log } = await cell.agent(request([], { action: 'cleanup' }));
  expect([result.outcome, ...openIn(result)], log).toEqual(['ok']);
}

async function expectSame(cell: Cell, { name, steps }: Intent): Promise<void> {
  for (const step of steps) await ask(cell, step);
  const made = await stateOf(cell);
  if (!had.has(name)) had.set(name, made);
  expect(difference(made, had.get(name)), 'beside the first family').toEqual([]);
  await expectRestartHarmless(cell, made);
  await cell.reboot();
  await eventually(async () =>
    expect(difference(await stateOf(cell), made), 'after a boot').toEqual([]),
  );
  const last = steps.at(-1) ?? [];
  const check = await cell.agent(request([...last], { protocol: 3, action: 'check' }));
  expect(openIn(check.result), 'looked at after a boot').toEqual([]);
  await expectRestartHarmless(cell, made);
}

/** Expects the same foreign state as after a restart without our NICs, and our NICs in the state from the agent and from a boot. */
async function expectRestartHarmless(cell: Cell, made: NicsState): Promise<void> {
  await foreign(cell);
  await restart(cell);
  await eventually(async () => {
    expect(difference(await stateOf(cell), made), 'after a restart').toEqual([]);
    const others = lineDifference(await foreignStateOf(cell), withoutUs.get(cell) ?? []);
    expect(others, 'others after a restart, beside one without us').toEqual([]);
  });
}

async function restart(cell: Cell): Promise<void> {
  await cell.restartManager();
  await settled(cell);
}

/** Resolves when the network manager reports the node's own NIC and our NICs as done. */
async function settled(cell: Cell): Promise<void> {
  await eventually(async () => {
    const states = await cell.managerStates();
    const done = /\bconfigured|:connected|\bunmanaged/;
    expect(states.filter((line) => !done.test(line))).toEqual([]);
    expect(states.some((line) => line.includes('eth0'))).toBe(true);
    const eth0 = await cell.ip('addr', 'show', 'dev', 'eth0');
    expect(eth0).toContain('inet 10.200.0.2/16');
    expect(eth0).toContain('inet6 fe80::');
    expect(eth0).not.toContain('tentative');
    expect(await cell.ip('route', 'show', 'default')).toContain('10.200.0.254');
  }, longestBoot);
}

/** Foreign state, such as from a CNI or an administrator. */
async function foreign(cell: Cell): Promise<void> {
  const lines = [
    ['link', 'add', 'cni0', 'address', '02:00:00:00:02:44', 'type', 'bridge'],
    ['addr', 'replace', '10.244.0.1/24', 'dev', 'cni0'],
    ['link', 'set', 'cni0', 'up'],
    ['route', 'replace', '198.51.100.0/24', 'via', '10.200.0.254', 'table', '500'],
    ['route', 'replace', '203.0.113.0/24', 'via', '10.200.0.254', 'proto', 'bird'],
    ['rule', 'add', 'from', '10.244.0.0/24', 'table', '500', 'priority', '500'],
    ['-6', 'rule', 'add', 'from', 'fd44::/64', 'table', '500', 'priority', '500'],
  ];
  for (const line of lines) await cell.ip(...line).catch(already);
}

/** Errors are ignored: the object may already exist. */
function already(error: Error): string {
  if (/File exists/.test(error.message)) return '';
  throw error;
}
