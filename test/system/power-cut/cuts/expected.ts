import { backends } from '../../../../src/agent/backends/backends.ts';
import { interim } from '../../../../src/agent/backends/ifcfg-claims.ts';
import { fileProblems } from '../../../property/disk-faults/pictures.ts';
import { difference, type NicsState } from '../../distros/nic-state.ts';
import type { Cut } from './cut.ts';
import type { DiskContent } from './disk.ts';
import type { Stage } from './stage.ts';

/** States of hosts without a power cut. */
export type Known = Pick<Stage, 'scene' | 'old' | 'new'>;

const indexes = [0, 1, 2];

/** Problems in the files after a cut, before any boot. */
export async function wrongFiles(
  known: Known,
  { isAfterEnd }: Pick<Cut, 'isAfterEnd'>,
  { files }: Pick<DiskContent, 'files'>,
): Promise<string[]> {
  const [old, wanted] = [known.old.content.files, known.new.content.files];
  const problems = await fileProblems(known.scene.family, files, old, wanted);
  if (!isAfterEnd) return problems;
  const isLost = indexes.some((index) => !isWanted(known, index, files));
  return isLost ? [...problems, 'the agent had said that it was done'] : problems;
}

/** NICs that differ from their files. */
export function wrongNics(
  known: Known,
  now: NicsState,
  content: Pick<DiskContent, 'files'>,
): readonly string[] {
  return indexes.flatMap((index) => wrongNic(known, index, now, content));
}

/**
 * A NIC equals its old or new file: the rename of this file is the commit. Files for name and settings are written before the commit, so
 * they may be new already, also for a NIC without addresses.
 */
function wrongNic(
  known: Known,
  index: number,
  now: NicsState,
  { files }: Pick<DiskContent, 'files'>,
): readonly string[] {
  const path = pathOf(known, index);
  const [nic, old, wanted] = [now, known.old.nics, known.new.nics].map((nics) =>
    ofNic(nics, index),
  ) as [NicsState, NicsState, NicsState];
  const isNew = isWanted(known, index, files);
  return difference(nic, isNew ? wanted : old).filter((line) => {
    if ((files[path] ?? files[path + interim]) === undefined)
      return ![...nic.links, ...nic.settings].includes(line.slice(2));
    return isNew || ![...old.settings, ...wanted.settings].includes(line.slice(2));
  });
}

/** True if a boot uses the new file, or the interim file. */
function isWanted(known: Known, index: number, files: DiskContent['files']): boolean {
  const path = pathOf(known, index);
  return files[path] === known.new.content.files[path] || files[path + interim] !== undefined;
}

/** Subset for a single NIC. */
function ofNic(all: NicsState, index: number): NicsState {
  const has = (line: string) => new RegExp(`\\bmultinic${index}\\b`).test(line);
  return {
    links: all.links.filter(has),
    addresses: all.addresses.filter(has),
    routes: all.routes.filter(has),
    rules: all.rules.filter((line) => line.startsWith(`${10_100 + index}:`)),
    settings: all.settings.filter(has),
  };
}

function pathOf({ scene: { family } }: Known, index: number): string {
  const backend = backends[family];
  if (!backend) throw new Error(`no files for ${family}`);
  return backend.path(index);
}
