import { dirname } from 'node:path';
import type { NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import { hasNoLinkFiles, linkFileRules, nameByRules, rulesPlace } from './backends/udev-rules.ts';
import { nicOf } from './identity.ts';
import { isLeftAlone } from './observe/family.ts';
import { readHostFiles } from './observe/host-files.ts';
import type { Backend } from './planning/backend.ts';
import { claimOn } from './planning/claim.ts';
import { isCompleted, warningsOf } from './result.ts';
import type { HostFile, Snapshot } from './snapshot.ts';
import type { AgentState } from './state.ts';

/** Host and state at the start of a run. */
interface Before {
  readonly host: Snapshot;
  readonly state: AgentState;
  /** State after the run; absent in a check. */
  readonly after?: AgentState;
}

/**
 * Returns warnings about correct NICs: configuration a boot will not restore, and old configuration a boot may restore.
 */
export function warningsOn(
  nics: readonly NicResult[],
  { host, state, after = state }: Before,
  context: Context,
): readonly string[] {
  return [
    ...filesLeft(nics, state, context.backend),
    ...warningsOf(nics, context.sysctls),
    ...notPersistent(nics, host, context),
    ...renamedAtBoot(nics, context),
    ...claimedAtBoot(nics, host, after),
  ];
}

/** Warns if a foreign file configures the NIC, too: the file decides about the next boot. */
function claimedAtBoot(nics: readonly NicResult[], host: Snapshot, records: AgentState): string[] {
  return nics
    .filter(({ state }) => state === 'Configured')
    .flatMap(({ mac, name }) => {
      const adopted = records.nics.find((nic) => nic.mac === mac)?.adopted;
      const claim = claimOn({ mac, names: [name], adopted }, host);
      return claim ? [`NotPersistent ${name}, also configured by ${claim.file.path}`] : [];
    });
}

/** Warns if udev gives the NIC another name at boot than the NIC's file requests. */
function renamedAtBoot(nics: readonly NicResult[], { backend, hostRoot }: Context): string[] {
  const rules = readRules(hostRoot);
  const unnamed = backend.namingRules === undefined && hasNoLinkFiles(rules);
  return nics
    .filter(({ state }) => state === 'Configured')
    .flatMap(({ mac, name }) => {
      const ruled = nameByRules(rules, mac, backend.namingRules);
      if (ruled === undefined && unnamed) {
        return [`NotPersistent ${name}, not named by ${linkFileRules}`];
      }
      if (ruled === undefined || ruled.name === name) return [];
      return [`NotPersistent ${name}, named ${ruled.name} by ${ruled.path}`];
    });
}

/**
 * Returns no rules on EACCES: earlier controllers do not mount this folder, and SELinux may hide it. A warning must not
 * fail a run.
 */
function readRules(hostRoot: string): HostFile[] {
  try {
    return readHostFiles(hostRoot, rulesPlace);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  }
}

/** Warns about files written under another network manager, in folders this run lacks. */
function filesLeft(
  nics: readonly NicResult[],
  before: AgentState,
  { places }: Backend,
): readonly string[] {
  const done = new Set(nics.filter(isCompleted).map(({ mac }) => mac));
  const inReach = new Set(places.map(({ directory }) => directory));
  return before.nics
    .filter(({ mac }) => done.has(mac))
    .flatMap(({ files }) => files.filter(({ path }) => !inReach.has(dirname(path))))
    .map(({ path }) => `FilesLeft ${path}`);
}

/**
 * Warns if NetworkManager ignores the NIC: at boot NetworkManager reads such a NIC's profile, but sets nothing. A link
 * keeps its index under any name.
 */
function notPersistent(
  nics: readonly NicResult[],
  host: Snapshot,
  { backend, hostRoot }: Context,
): string[] {
  if (backend.name !== 'keyfile' && backend.name !== 'ifcfg') return [];
  const isLeft = ({ index }: { readonly index: number }) => isLeftAlone(hostRoot, index);
  return nics
    .filter(({ state, mac }) => state === 'Configured' && nicOf(host, mac).links.some(isLeft))
    .map(({ name }) => `NotPersistent ${name}, NetworkManager is configured to ignore it`);
}
