import { linkOf } from '../identity.ts';
import {
  dropInsToOurs,
  observeLinks,
  readHostFiles,
  readSettings,
  withSettings,
} from '../observe/host.ts';
import { type ForeignLoss, type ForeignView, foreignLossesBetween } from '../planning/foreign.ts';
import type { RecordedNic } from '../planning/nic-state.ts';
import { ownedBy } from '../planning/ownership.ts';
import type { WholePlan } from '../planning/plan.ts';
import { detachedNics } from '../planning/remembered.ts';
import { inOrder, isDone, type Unit } from '../planning/unit.ts';
import type { HostFile, KernelSnapshot, Settings, Snapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import { changeNics } from './gate.ts';

/** Changes made or begun in a run. */
export interface Changes {
  readonly nics: readonly RecordedNic[];
  /** Paths of current and former managed files. */
  readonly paths: ReadonlySet<string>;
  /** Last kernel snapshot; absent if anything changed afterwards. */
  readonly seen?: KernelSnapshot;
}

export function isToChange({ removal, apply }: WholePlan): boolean {
  return [...removal.units, ...apply.units].some((unit) => !isDone(unit));
}

interface Step {
  /** NIC transactions planned in this step. */
  readonly units: readonly Unit[];
  readonly seen?: KernelSnapshot;
}

/** Returns the steps' changes; undefined if none. */
export function changesOf(steps: readonly Step[]): Changes | undefined {
  const changed = steps.filter(({ units }) => units.length > 0);
  const units = changed.flatMap((step) => step.units);
  const seen = changed.at(-1)?.seen;
  if (units.length === 0) return undefined;
  return { nics: units.map(({ nic }) => nic), paths: pathsOf(units), ...(seen ? { seen } : {}) };
}

/** Returns all file paths in the transactions. */
export function pathsOf(units: readonly Pick<Unit, 'files'>[]): ReadonlySet<string> {
  return new Set(units.flatMap(({ files }) => inOrder(files)).map(({ path }) => path));
}

/** Foreign state and managed NICs before a run's changes. */
export interface ForeignBaseline extends ForeignView {
  readonly ours: readonly RecordedNic[];
}

/** Returns foreign state before any change; `inHand` lists NICs with unfinished changes, possibly without a record. */
export function foreignBaseline(
  host: Snapshot,
  state: AgentState,
  context: Context,
  inHand: readonly RecordedNic[] = [],
): ForeignBaseline {
  const recorded = state.nics.map((nic) => {
    const { mac } = nic;
    return { mac, belongings: ownedBy(mac, nic, host, state.nics) };
  });
  return {
    kernel: host,
    settings: foreignNicSettings(host, context),
    files: host.files.filter(({ own }) => own === undefined),
    ours: mergedByMac(inHand, [...recorded, ...detachedNics(state, host)]),
  };
}

/** Merges two lists by MAC; the first list wins. */
function mergedByMac(nics: readonly RecordedNic[], others: readonly RecordedNic[]): RecordedNic[] {
  const macs = new Set(nics.map(({ mac }) => mac));
  return [...nics, ...others.filter(({ mac }) => !macs.has(mac))];
}

/** Reads settings for foreign NICs only: container links come and go by the hundred and are skipped. */
function foreignNicSettings({ links }: KernelSnapshot, { macs, sysctls }: Context) {
  const nics = links.filter(({ kind, mac }) => kind === undefined && !macs.has(mac));
  return settingsOf(
    nics.map(({ name }) => name),
    sysctls,
  );
}

function settingsOf(names: readonly string[], sysctls: string): ReadonlyMap<string, Settings> {
  return new Map(names.map((name) => [name, readSettings(sysctls, name)]));
}

/** Foreign losses, as text. */
export interface ForeignLosses {
  readonly foreignStateLost: readonly string[];
  /** Why the losses are unknown. */
  readonly warnings: readonly string[];
}

export const noForeignLosses: ForeignLosses = { foreignStateLost: [], warnings: [] };

/**
 * Detects foreign losses during a run. Foreign state on changed NICs is restored: going through "down", or below the
 * IPv6 minimum MTU, deletes it. Other losses are only reported, as foreign software such as a container runtime changes
 * links and routes all the time. Never rejects: the NICs' changes are done already.
 */
export async function foreignLosses(
  before: ForeignBaseline,
  changes: Changes,
  context: Context,
): Promise<ForeignLosses> {
  try {
    return { foreignStateLost: await lost(before, changes, context), warnings: [] };
  } catch (error) {
    context.log.warn({ err: error }, 'foreign state comparison failed');
    const warnings = [`ForeignStateUnknown ${(error as Error).message}`];
    return { foreignStateLost: [], warnings };
  }
}

async function lost(
  before: ForeignBaseline,
  { nics, paths, seen }: Changes,
  context: Context,
): Promise<string[]> {
  const ours = mergedByMac(nics, before.ours);
  const losses = (kernel: KernelSnapshot) => {
    const after = { kernel, settings: settingsNow(before, context), files: filesNow(context) };
    const files = before.files.filter(({ path }) => !paths.has(path));
    return foreignLossesBetween({ ...before, files }, after, ours);
  };
  const kernel = seen ?? (await observeLinks(context, context.macs));
  const first = losses(kernel);
  const later = await restoreOn(nics, { kernel, losses: first }, context);
  const left = later ? losses(later) : first;
  if (first.length > 0) {
    const all = first.map(({ what }) => what);
    const summary = { lost: all.slice(0, maxLogged), count: all.length, left: left.length };
    context.log.warn(summary, 'foreign state lost');
  }
  return left.map(({ what }) => what);
}

/** Number of losses in the log. */
const maxLogged = 50;

function settingsNow({ settings }: ForeignView, { sysctls }: Context) {
  return settingsOf([...settings.keys()], sysctls);
}

function filesNow({ hostRoot, backend: { places } }: Context): HostFile[] {
  const files = places.flatMap((place) => readHostFiles(hostRoot, place));
  return [...files, ...dropInsToOurs(hostRoot, places)];
}

/** Failed restores before giving up: thousands of routes may depend on the same missing state. */
const maxRefused = 20;

interface Found {
  readonly kernel: KernelSnapshot;
  readonly losses: readonly ForeignLoss[];
}

/**
 * Restores losses, addresses before dependent routes. Returns the resulting kernel state; undefined if nothing was
 * restorable. A NIC taken by foreign software meanwhile stays unchanged.
 */
async function restoreOn(
  nics: readonly RecordedNic[],
  { kernel, losses }: Found,
  context: Context,
): Promise<KernelSnapshot | undefined> {
  const known = new Map(nics.map((nic) => [nic.mac, nic]));
  const changes = new Map(
    losses.flatMap(({ what, again }) => {
      const nic = again && known.get(again.mac);
      const link = nic && linkOf(kernel, nic.mac);
      if (!nic || !link?.up) return [];
      return [
        [
          { what, nic },
          { sysctls: [], operations: [again.on(link.name)] },
        ] as const,
      ];
    }),
  );
  if (changes.size === 0) return undefined;
  const { failures, seen } = await changeNics(changes, kernel, context, maxRefused);
  for (const [{ what }, { message }] of failures)
    context.log.warn({ what, message }, 'foreign state not restored');
  const { macs } = context;
  return seen ? withSettings(seen, context, macs) : observeLinks(context, macs);
}
