import { observeLinks, readHostFiles, readSettings, withSettings } from '../observe/host.ts';
import { type ForeignView, type Loss, lostByOthers } from '../planning/foreign.ts';
import type { KnownNic } from '../planning/nic-state.ts';
import type { HostFile, KernelSnapshot, Settings, Snapshot } from '../snapshot.ts';
import { linksWithMac } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeKernel } from './kernel.ts';

/** What a run has changed. */
export interface Changes {
  readonly nics: readonly KnownNic[];
  /** Paths of the files that are ours now, or were. */
  readonly paths: ReadonlySet<string>;
  /** The last look at the kernel, when nothing was changed after it. */
  readonly seen?: KernelSnapshot;
}

/** What others have on the host, from the look that plans were made of. */
export function othersOn(host: Snapshot, context: Context): ForeignView {
  const files = host.files.filter(({ own }) => own === undefined);
  return { kernel: host, settings: othersSettings(host, context), files };
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

/**
 * What others have lost while a run changed what is ours, in words. What they had on the NICs that were changed is put back:
 * going through "down", or below the smallest MTU of IPv6, takes that along. Anything else may be their own doing, as who
 * runs containers changes links and routes all the time, so it is told and no more.
 */
export async function lossesOf(
  before: ForeignView,
  { nics, paths, seen }: Changes,
  context: Context,
): Promise<string[]> {
  const losses = (kernel: KernelSnapshot) => {
    const after = { kernel, settings: settingsNow(before, context), files: filesNow(context) };
    const files = before.files.filter(({ path }) => !paths.has(path));
    return lostByOthers({ ...before, files }, after, nics);
  };
  const kernel = seen ?? (await observeLinks(context, context.macs));
  const first = losses(kernel);
  const later = await putBackOn(kernel, first, context);
  const left = later ? losses(later) : first;
  const words = left.map(({ what }) => what);
  if (first.length > 0) {
    const all = first.map(({ what }) => what);
    const told = { lost: all.slice(0, maxLogged), count: all.length, left: left.length };
    context.log.warn(told, 'others lost something');
  }
  return words;
}

/** Of what is lost, so much is in the log. */
const maxLogged = 50;

function settingsNow({ settings }: ForeignView, { sysctls }: Context) {
  return settingsOf([...settings.keys()], sysctls);
}

function filesNow({ hostRoot, backend }: Context): HostFile[] {
  return backend.places.flatMap((place) => readHostFiles(hostRoot, place));
}

/** Resolves to what the kernel has then, where there was anything to do. Addresses come before the routes that need them. */
async function putBackOn(
  kernel: KernelSnapshot,
  losses: readonly Loss[],
  context: Context,
): Promise<KernelSnapshot | undefined> {
  const changes = new Map(
    losses.flatMap((loss) => {
      const [link, twin] = loss.again ? linksWithMac(kernel, loss.again.mac) : [];
      if (!loss.again || !link?.up || twin) return [];
      return [[loss.what, { sysctls: [], operations: [loss.again.on(link.name)] }] as const];
    }),
  );
  if (changes.size === 0) return undefined;
  const { failures, seen } = await changeKernel(changes, context);
  for (const [what, { message }] of failures) context.log.warn({ what, message }, 'not put back');
  const { macs } = context;
  return seen ? withSettings(seen, context, macs) : observeLinks(context, macs);
}
