import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  link,
  macOf,
  request,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import { ModelHost } from '../../../test/property/model-host.ts';
import { observeHost } from '../observe/host.ts';
import { batchLine } from '../planning/operation.ts';
import { planAll } from '../planning/plan.ts';
import { stateAfter, type Unit } from '../planning/unit.ts';
import type { Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState } from '../state.ts';
import type { JournalEntry } from './memory.ts';
import { recover } from './recover.ts';

let box: ModelHost;
beforeEach(async () => {
  box = await ModelHost.of(host([link(1), link(2)]));
});
afterEach(() => box[Symbol.dispose]());

const apply = request([entry(1)]);
const folder = () => join(box.root, 'etc/netplan');
const file = () => join(folder(), '90-multinic0.yaml');
const contextOf = () => box.context(apply, async (_, write) => write());

async function planned(asked: typeof apply, state: AgentState): Promise<Unit> {
  const context = contextOf();
  const on = await observeHost(context, context.macs, state);
  const { backend, run } = context;
  const plan = planAll({ request: asked, state, host: on, backend, bootId: run.bootId });
  const [unit] = [...plan.removal.units, ...plan.apply.units];
  if (!unit) throw new Error('no unit');
  return unit;
}

async function changeKernelAs({ change }: Unit): Promise<void> {
  const steps = [...(change.eviction ? [change.eviction] : []), ...change.operations];
  const answer = await box.run(steps.map(batchLine));
  if (!('seen' in answer)) throw new Error(answer.words);
}

function writeFileAs({ files: { commit } }: Unit): void {
  if (commit.after === null) rmSync(join(box.root, commit.path), { force: true });
  else writeFileSync(join(box.root, commit.path), commit.after);
}

/** Change interrupted at this point. */
interface Interrupted {
  readonly unit: Unit;
  before: AgentState;
}

async function interrupted(
  step: 'apply' | 'remove',
  { kernel, committed }: { readonly kernel: boolean; readonly committed: boolean },
): Promise<Interrupted> {
  let before: AgentState = emptyState;
  let unit = await planned(apply, before);
  if (step === 'remove') {
    await changeKernelAs(unit);
    writeFileAs(unit);
    before = stateAfter(before, unit);
    unit = await planned({ ...apply, interfaces: [], generation: 2 }, before);
  }
  if (kernel) await changeKernelAs(unit);
  if (committed) writeFileAs(unit);
  return { unit, before };
}

async function recovered({ unit, before }: Interrupted, more: Partial<JournalEntry> = {}) {
  const context = contextOf();
  const { action, index, nic, files, record } = unit;
  const journal = {
    version: 2 as const,
    ...context.run,
    step: action,
    index,
    ...nic,
    before: unit.before,
    after: unit.after,
    ops: [],
    files,
    ...(record ? { record } : {}),
    ...more,
  } as JournalEntry;
  mkdirSync(join(box.root, 'var/lib/multinic/journal'), { recursive: true });
  const start = box.kernel;
  const lines = box.done.length;
  const { state, inHand, claims, warnings } = await recover([journal], before, context);
  const nic1 = box.kernel.links.find(({ mac }) => mac === macOf(1));
  const [known] = state.nics;
  return {
    name: nic1?.name ?? 'none',
    kernel: box.done.length === lines && box.kernel.links === start.links ? 'same' : 'changed',
    file: existsSync(file()),
    record: known?.addresses.join(' ') ?? 'none',
    inHand: [...inHand.values()].map(({ reason }) => reason).join(' '),
    claims: claims.length,
    warnings,
  };
}

function update(change: (kernel: Snapshot) => Partial<Snapshot>): void {
  box.update(change);
}

function onNic(more: Parameters<typeof link>[1]) {
  update(({ links }) => ({
    links: links.map((each) => (each.mac === macOf(1) ? { ...each, ...more } : each)),
  }));
}

const done = { file: true, record: '10.0.0.1/24', inHand: '', claims: 0 };
const undone = { file: false, record: 'none', inHand: '', claims: 0 };
const rebooted = { bootId: 'boot before' };

type Row = readonly [
  title: string,
  step: 'apply' | 'remove',
  at: { readonly kernel: boolean; readonly committed: boolean },
  meanwhile: (change: Interrupted) => void,
  journal: Partial<JournalEntry>,
  expected: object,
];
const nothing = () => undefined;
const open = { kernel: true, committed: false };
const committed = { kernel: true, committed: true };
const early = { kernel: false, committed: true };
const static1 = (name: string) => ({ addresses: [address(name, '10.0.0.1/24')] });

describe('recover', () => {
  test.each<Row>([
    ['rolls back an uncommitted change', 'apply', open, nothing, {}, { ...undone, name: 'ens1' }],
    ['finishes a committed change', 'apply', early, nothing, {}, { ...done, name: 'multinic0' }],
    [
      'leaves the kernel of an uncommitted change after a reboot',
      'apply',
      open,
      nothing,
      rebooted,
      { ...undone, name: 'multinic0', kernel: 'same' },
    ],
    [
      'finishes a committed change after a reboot',
      'apply',
      early,
      nothing,
      rebooted,
      { ...done, name: 'multinic0' },
    ],
    [
      'leaves a lease with the address of the port in place',
      'apply',
      { kernel: false, committed: false },
      () => update(() => ({ addresses: [address('ens1', '10.0.0.1/24', { temporary: true })] })),
      {},
      { ...undone, name: 'ens1', kernel: 'same' },
    ],
    [
      'leaves a NIC configured since a reboot after a committed release',
      'remove',
      committed,
      () => update(() => static1('ens1')),
      rebooted,
      { ...undone, kernel: 'same' },
    ],
    [
      'leaves a NIC configured since state.json lost the record of a release',
      'remove',
      committed,
      (change) => {
        update(() => static1('ens1'));
        change.before = emptyState;
      },
      {},
      { ...undone, kernel: 'same' },
    ],
    [
      'undoes a managed address left by a committed release in this boot',
      'remove',
      committed,
      () => update(() => static1('ens1')),
      {},
      { ...undone, kernel: 'changed' },
    ],
    [
      'leaves a released NIC to a new bridge',
      'remove',
      committed,
      () => onNic({ master: 'br0', up: true, mtu: 9000 }),
      {},
      { ...undone, kernel: 'same' },
    ],
    [
      'keeps a record of a configured NIC with a foreign bridge',
      'apply',
      committed,
      () => onNic({ master: 'br0', mtu: 9000 }),
      {},
      { ...done, kernel: 'same' },
    ],
    [
      'keeps a record of a rolled back NIC with a foreign route',
      'apply',
      open,
      () => update(({ routes }) => ({ routes: [...routes, route('10.9.0.0/16', 'multinic0')] })),
      {},
      { ...undone, record: '10.0.0.1/24', kernel: 'same' },
    ],
    [
      'finishes the files of an absent NIC',
      'apply',
      early,
      () => update(({ links }) => ({ links: links.filter(({ mac }) => mac !== macOf(1)) })),
      {},
      { ...done, name: 'none' },
    ],
    [
      'keeps a record when the name belongs to a foreign link',
      'apply',
      early,
      () =>
        update(({ links }) => ({
          links: links.map((each) =>
            each.mac === macOf(2) ? { ...each, name: 'multinic0' } : each,
          ),
        })),
      {},
      { ...done, name: 'ens1' },
    ],
    [
      'rolls back without a proof of the commit if the folder is missing',
      'apply',
      open,
      () => renameSync(folder(), `${folder()}.away`),
      {},
      { ...undone, name: 'ens1', warnings: ['FilesLeft /etc/netplan/90-multinic0.yaml'] },
    ],
    [
      'finishes if state.json proves the commit and the folder is missing',
      'apply',
      committed,
      (change) => {
        change.before = stateAfter(emptyState, change.unit);
        renameSync(folder(), `${folder()}.away`);
      },
      {},
      { ...done, file: false, name: 'multinic0' },
    ],
    [
      'claims a NIC with a blocked file',
      'apply',
      open,
      () => mkdirSync(join(folder(), '.90-multinic0.yaml.multinic-new')),
      {},
      { ...undone, inHand: 'RollbackFailed', claims: 1 },
    ],
  ])('recover %s', async (_, step, at, meanwhile, journal, expected) => {
    const change = await interrupted(step, at);
    meanwhile(change);
    expect(await recovered(change, journal)).toMatchObject(expected);
  });

  test.each([
    ['removes the rules in the boot of the journal', {}, 0],
    ['leaves the rules after a reboot', rebooted, 1],
  ])('recover of a rules-only change %s', async (_, journal, rules) => {
    const { unit } = await interrupted('apply', open);
    const change = { unit: { ...unit, after: { rules: [] } }, before: emptyState };
    await recovered(change, { rulesOnly: true, ...journal });
    expect(box.kernel.rules.filter(({ from }) => from === '10.0.0.1/32')).toHaveLength(rules);
  });
});
