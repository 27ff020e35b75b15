import { dirname } from 'node:path';
import type { NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import type { Backend } from './backends/backend.ts';
import { hasNoLinkFiles, linkFileRules, nameByRules, rulesPlace } from './backends/udev-rules.ts';
import { nicOf } from './identity.ts';
import { isLeftAlone } from './observe/family.ts';
import { readHostFiles } from './observe/host.ts';
import { isGood, warningsOf } from './result.ts';
import type { HostFile, Snapshot } from './snapshot.ts';
import type { AgentState } from './state.ts';

/** What was there when a run began. */
interface Before {
  readonly host: Snapshot;
  readonly state: AgentState;
}

/** What is right now but may surprise: with what a boot will not bring back, and what it may bring back of before. */
export function warningsOn(
  nics: readonly NicResult[],
  { host, state }: Before,
  context: Context,
): readonly string[] {
  return [
    ...filesLeft(nics, state, context.backend),
    ...warningsOf(nics, context.sysctls),
    ...notPersistent(nics, host, context),
    ...renamedAtBoot(nics, context),
  ];
}

/** udev gives such a NIC another name at a boot than the file that sets it up asks for. */
function renamedAtBoot(nics: readonly NicResult[], { backend, hostRoot }: Context): string[] {
  const rules = readRules(hostRoot);
  const unnamed = backend.namingRules === undefined && hasNoLinkFiles(rules);
  return nics
    .filter(({ state }) => state === 'Configured')
    .flatMap(({ mac, name }) => {
      const ruled = nameByRules(rules, mac, backend.namingRules);
      if (ruled === undefined && unnamed) {
        return [`NotPersistent ${name}, no name by ${linkFileRules}`];
      }
      if (ruled === undefined || ruled.name === name) return [];
      return [`NotPersistent ${name}, ${ruled.name} by ${ruled.path}`];
    });
}

/** Controllers of an earlier release mount no such folder, and SELinux may hide it: a warning is no reason to fail. */
function readRules(hostRoot: string): HostFile[] {
  try {
    return readHostFiles(hostRoot, rulesPlace);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  }
}

/** Files that were written while the host was of another family, whose folders this run does not have. */
function filesLeft(
  nics: readonly NicResult[],
  before: AgentState,
  { places }: Backend,
): readonly string[] {
  const done = new Set(nics.filter(isGood).map(({ mac }) => mac));
  const inReach = new Set(places.map(({ directory }) => directory));
  return before.nics
    .filter(({ mac }) => done.has(mac))
    .flatMap(({ files }) => files.filter(({ path }) => !inReach.has(dirname(path))))
    .map(({ path }) => `FilesLeft ${path}`);
}

/** NetworkManager reads the profile of such a NIC at a boot, and sets nothing of it. A link keeps its index under any name. */
function notPersistent(
  nics: readonly NicResult[],
  host: Snapshot,
  { backend, hostRoot }: Context,
): string[] {
  if (backend.name !== 'keyfile' && backend.name !== 'ifcfg') return [];
  const isLeft = ({ index }: { readonly index: number }) => isLeftAlone(hostRoot, index);
  return nics
    .filter(({ state, mac }) => state === 'Configured' && nicOf(host, mac).links.some(isLeft))
    .map(({ name }) => `NotPersistent ${name}, NetworkManager is told not to manage it`);
}
