import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { BizSources, bizNic, bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { desiredNode } from '../../api/desired-node.ts';
import type { BizNode } from '../../api/multinicbizconfig.ts';
import { labels } from '../../api/names.ts';
import type { PostedNode } from '../../api/node-configs-http.ts';
import { nodeConfigs } from '../objects/stores.ts';

const numRuns = Number(process.env['MULTINIC_BIZ_STORIES'] ?? 5);

/** One node's NICs in a list; `isBad`: an invalid MTU makes the entry refused. */
interface Line {
  readonly node: number;
  readonly nics: readonly number[];
  readonly isBad: boolean;
}

type Action =
  | { readonly kind: 'edit'; readonly lines: readonly Line[] }
  | { readonly kind: 'viola'; readonly node: number; readonly nics: readonly number[] }
  | { readonly kind: 'allow' }
  | { readonly kind: 'restart' };

const someNics = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 4 });
const someNode = fc.integer({ min: 1, max: 6 });
const isBad = fc.integer({ min: 0, max: 9 }).map((n) => n === 0);
const someLine = fc.record({ node: someNode, nics: someNics, isBad });
const someLines = fc.uniqueArray(someLine, { selector: ({ node }) => node, maxLength: 6 });
const someAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('edit' as const), lines: someLines }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('viola' as const), node: someNode, nics: someNics }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'allow' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);
const someStory = fc.record({
  first: fc.uniqueArray(someLine, { selector: ({ node }) => node, minLength: 4, maxLength: 6 }),
  actions: fc.array(someAction, { minLength: 2, maxLength: 6 }),
});

function entryOf({ node, nics, isBad: bad }: Line): BizNode {
  const entry = bizNode(node, nics);
  if (!bad) return entry;
  return { ...entry, interfaces: [...(entry.interfaces ?? []), bizNic(node, 9, { mtu: 1 })] };
}

interface Stored {
  readonly macs: ReadonlyMap<string, number>;
  readonly isOurs: boolean;
  readonly spec: unknown;
}

/** Returns stored objects by name, without objects in deletion, which the controller may hold. */
function read(fixture: ControllerFixture): ReadonlyMap<string, Stored> {
  const stored = fixture.api
    .objects('multinicnodeconfigs.multinic.io', system)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const found = stored.map((raw) => {
    const { metadata, spec } = nodeConfigs.parse?.(raw) ?? {
      metadata: raw.metadata,
      spec: undefined,
    };
    const nics = (spec?.interfaces ?? []) as readonly { macAddress: string; id: number }[];
    const macs = new Map(nics.map(({ macAddress, id }) => [macAddress, id]));
    const isOurs = metadata.labels?.[labels.bizConfig] === 'all';
    return [metadata.name, { macs, isOurs, spec }] as const;
  });
  return new Map(found);
}

const macsIn = ({ interfaces = [] }: BizNode) =>
  interfaces.map(({ macAddress = '' }) => macAddress);

class Story {
  readonly #fixture: ControllerFixture;
  readonly #sources: BizSources;
  /** Spec last written by Viola, by object name. */
  readonly #viola = new Map<string, unknown>();
  #lines: readonly Line[];
  #allowances = 0;

  constructor(fixture: ControllerFixture, first: readonly Line[]) {
    this.#fixture = fixture;
    this.#sources = new BizSources(fixture);
    this.#lines = first;
  }

  async begin(): Promise<void> {
    await this.#sources.create('all', this.#lines.map(entryOf));
    this.#fixture.run();
    await this.#settle();
  }

  async perform(action: Action): Promise<void> {
    const before = read(this.#fixture);
    await this.#do(action);
    await this.#settle();
    const after = read(this.#fixture);
    this.#keepsIndexes(before, after);
    this.#keepsForeign(after);
    this.#losesAsAllowed(action, before, after);
  }

  async #do(action: Action): Promise<void> {
    if (action.kind === 'edit') {
      this.#lines = action.lines;
      await this.#sources.edit('all', action.lines.map(entryOf));
    } else if (action.kind === 'viola') {
      const { node, nics } = action;
      const interfaces = nics.map((nic, id) => ({ id, ...bizNic(node, nic) }));
      const posted = { nodeName: `w-${node}`, instanceId: `i-${node}`, interfaces };
      const desired = desiredNode(posted as PostedNode, 'p-1');
      if (desired.kind === 'invalid') throw new Error(desired.error.message);
      await this.#fixture.apply(`w-${node}`, desired.node.spec);
      this.#viola.set(`w-${node}`, read(this.#fixture).get(`w-${node}`)?.spec);
    } else if (action.kind === 'allow') {
      this.#allowances += 1;
      const value = { 'multinic.io/allow-removals': `${this.#allowances}` };
      await this.#sources.annotate('all', value);
    } else {
      await this.#fixture.stop();
      this.#fixture.run();
    }
  }

  /** Advances ten seconds: longer than the minimum intervals for reconciles and status writes. */
  async #settle(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await this.#fixture.clock.advance(450);
      await this.#fixture.pass(1);
    }
  }

  #keepsIndexes(before: ReadonlyMap<string, Stored>, after: ReadonlyMap<string, Stored>): void {
    for (const [name, { macs, isOurs }] of after) {
      const had = before.get(name);
      if (!isOurs || !had?.isOurs || this.#viola.has(name)) continue;
      for (const [mac, id] of macs) {
        if (had.macs.has(mac)) expect([name, mac, id]).toEqual([name, mac, had.macs.get(mac)]);
      }
    }
  }

  #keepsForeign(after: ReadonlyMap<string, Stored>): void {
    for (const [name, spec] of this.#viola) expect(after.get(name)?.spec, name).toEqual(spec);
  }

  #losesAsAllowed(
    action: Action,
    before: ReadonlyMap<string, Stored>,
    after: ReadonlyMap<string, Stored>,
  ): void {
    const ours = [...before].filter(([name, { isOurs }]) => isOurs && !this.#viola.has(name));
    const losing = ours.filter(([name, { macs }]) => {
      const left = after.get(name);
      return !left || [...macs.keys()].some((mac) => !left.macs.has(mac));
    });
    for (const [name] of losing) {
      const line = this.#lines.find(({ node }) => `w-${node}` === name);
      expect(line?.isBad ?? false, `${name} is refused`).toBe(false);
      const wanted = line ? macsIn(entryOf(line)) : [];
      const kept = [...(after.get(name)?.macs.keys() ?? [])];
      expect(wanted.toSorted(), name).toEqual(kept.toSorted());
    }
    const mayLose = action.kind === 'allow' || (action.kind === 'edit' && this.#lines.length > 0);
    if (!mayLose) expect(losing.map(([name]) => name)).toEqual([]);
  }

  #isWanted(name: string, macs: ReadonlyMap<string, number>): boolean {
    const line = this.#lines.find(({ node }) => `w-${node}` === name);
    return line !== undefined && isDeepStrictEqual(macsIn(entryOf(line)), [...macs.keys()]);
  }

  /** With all removals allowed, the objects equal those of a fresh controller. */
  async end(): Promise<void> {
    await this.perform({ kind: 'allow' });
    const wanted = this.#lines
      .filter((line) => !line.isBad && !this.#viola.has(`w-${line.node}`))
      .map((line) => [`w-${line.node}`, macsIn(entryOf(line)).toSorted()] as const);
    const bad = new Set(this.#lines.flatMap(({ node, isBad: b }) => (b ? [`w-${node}`] : [])));
    const found = [...read(this.#fixture)]
      .filter(([name]) => !bad.has(name) && !this.#viola.has(name))
      .map(([name, { macs }]) => [name, [...macs.keys()].toSorted()] as const);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
    // Equal content gives the expansion no reason to read the owner.
    const labelled = [...read(this.#fixture)].filter(
      ([name, { isOurs, macs }]) => isOurs && !bad.has(name) && !this.#isWanted(name, macs),
    );
    expect(labelled.map(([name]) => name).filter((name) => this.#viola.has(name))).toEqual([]);
    const writes = this.#fixture.writes().length;
    await this.#fixture.stop();
    this.#fixture.run();
    await this.#settle();
    expect(this.#fixture.writes().length).toBe(writes);
  }
}

it('any sequence of edits keeps NIC indexes and foreign objects, and removes NICs only as allowed', async () => {
  await fc.assert(
    fc.asyncProperty(someStory, async ({ first, actions }) => {
      await using fixture = await ControllerFixture.start();
      const story = new Story(fixture, first);
      await story.begin();
      for (const action of actions) await story.perform(action);
      await story.end();
    }),
    // A story takes a second: shrinking would take minutes.
    { numRuns, endOnFailure: true },
  );
});
