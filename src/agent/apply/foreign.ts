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

/** What a run has changed, or begun to. */
export interface Changes {
  readonly nics: readonly RecordedNic[];
  /** Paths of the files that are ours now, or were. */
  readonly paths: ReadonlySet<string>;
  /** The last look at the kernel, when nothing was changed after it. */
  readonly seen?: KernelSnapshot;
}

export function isToChange({ removal, apply }: WholePlan): boolean {
  return [...removal.units, ...apply.units].some((unit) => !isDone(unit));
}

interface Step {
  /** What was to be changed. */
  readonly units: readonly Unit[];
  readonly seen?: KernelSnapshot;
}

/** What these steps have changed; undefined when that is nothing. */
export function changesOf(steps: readonly Step[]): Changes | undefined {
  const changed = steps.filter(({ units }) => units.length > 0);
  const units = changed.flatMap((step) => step.units);
  const seen = changed.at(-1)?.seen;
  if (units.length === 0) return undefined;
  return { nics: units.map(({ nic }) => nic), paths: pathsOf(units), ...(seen ? { seen } : {}) };
}

/** Paths of all their files. */
export function pathsOf(units: readonly Pick<Unit, 'files'>[]): ReadonlySet<string> {
  return new Set(units.flatMap(({ files }) => inOrder(files)).map(({ path }) => path));
}

/** What others have on a host, and the NICs that are ours before anything is changed. */
export interface ForeignBaseline extends ForeignView {
  readonly ours: readonly RecordedNic[];
}

/** What others have on the host before anything is changed; `inHand` are NICs that may be ours though no record says so. */
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
    settings: othersSettings(host, context),
    files: host.files.filter(({ own }) => own === undefined),
    ours: withThese(inHand, [...recorded, ...detachedNics(state, host)]),
  };
}

/** Of what is known twice the first counts. */
function withThese(nics: readonly RecordedNic[], others: readonly RecordedNic[]): RecordedNic[] {
  const macs = new Set(nics.map(({ mac }) => mac));
  return [...nics, ...others.filter(({ mac }) => !macs.has(mac))];
}

/** Of NICs alone: links that others make and drop by the hundred are not asked for theirs. */
function othersSettings({ links }: KernelSnapshot, { macs, sysctls }: Context) {
  const nics = links.filter(({ kind, mac }) => kind === undefined && !macs.has(mac));
  return settingsOf(
    nics.map(({ name }) => name),
    sysctls,
  );
}

function settingsOf(names: readonly string[], sysctls: string): ReadonlyMap<string, Settings> {
  return new Map(names.map((name) => [name, readSettings(sysctls, name)]));
}

/** In words. */
export interface ForeignLosses {
  readonly foreignStateLost: readonly string[];
  /** Why nobody knows. */
  readonly warnings: readonly string[];
}

export const noForeignLosses: ForeignLosses = { foreignStateLost: [], warnings: [] };

/**
 * What others have lost while a run changed what is ours. What they had on the NICs that were changed is put back: going
 * through "down", or below the smallest MTU of IPv6, takes that along. Anything else may be their own doing, as who runs
 * containers changes links and routes all the time, so it is told and no more. Never rejects: what was done to NICs is done.
 */
export async function foreignLosses(
  before: ForeignBaseline,
  changes: Changes,
  context: Context,
): Promise<ForeignLosses> {
  try {
    return { foreignStateLost: await lost(before, changes, context), warnings: [] };
  } catch (error) {
    context.log.warn({ err: error }, 'nobody knows what others have lost');
    const warnings = [`ForeignStateUnknown ${(error as Error).message}`];
    return { foreignStateLost: [], warnings };
  }
}

async function lost(
  before: ForeignBaseline,
  { nics, paths, seen }: Changes,
  context: Context,
): Promise<string[]> {
  const ours = withThese(nics, before.ours);
  const losses = (kernel: KernelSnapshot) => {
    const after = { kernel, settings: settingsNow(before, context), files: filesNow(context) };
    const files = before.files.filter(({ path }) => !paths.has(path));
    return foreignLossesBetween({ ...before, files }, after, ours);
  };
  const kernel = seen ?? (await observeLinks(context, context.macs));
  const first = losses(kernel);
  const later = await putBackOn(nics, { kernel, losses: first }, context);
  const left = later ? losses(later) : first;
  if (first.length > 0) {
    const all = first.map(({ what }) => what);
    const told = { lost: all.slice(0, maxLogged), count: all.length, left: left.length };
    context.log.warn(told, 'others lost something');
  }
  return left.map(({ what }) => what);
}

/** Of what is lost, so much is in the log. */
const maxLogged = 50;

function settingsNow({ settings }: ForeignView, { sysctls }: Context) {
  return settingsOf([...settings.keys()], sysctls);
}

function filesNow({ hostRoot, backend: { places } }: Context): HostFile[] {
  const files = places.flatMap((place) => readHostFiles(hostRoot, place));
  return [...files, ...dropInsToOurs(hostRoot, places)];
}

/** The rest of thousands that stand on the same is not tried: a run has better things to do. */
const maxRefused = 20;

interface Found {
  readonly kernel: KernelSnapshot;
  readonly losses: readonly ForeignLoss[];
}

/**
 * Resolves to what the kernel has then, where there was anything to do. Addresses come before the routes that need them. A
 * NIC that others took meanwhile is left to them.
 */
async function putBackOn(
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
    context.log.warn({ what, message }, 'not put back');
  const { macs } = context;
  return seen ? withSettings(seen, context, macs) : observeLinks(context, macs);
}
