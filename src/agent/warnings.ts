import { dirname } from 'node:path';
import type { NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import type { Backend } from './backends/backend.ts';
import { isLeftAlone } from './observe/family.ts';
import { observeLinks } from './observe/host.ts';
import { isGood, warningsOf } from './result.ts';
import type { AgentState } from './state.ts';

/**
 * What is right now but may surprise: with what a boot will not bring back, and what it may bring back of `before`, which is
 * what state.json said when the run began.
 */
export async function warningsOn(
  nics: readonly NicResult[],
  before: AgentState,
  context: Context,
): Promise<readonly string[]> {
  return [
    ...filesLeft(nics, before, context.backend),
    ...warningsOf(nics, context.sysctls),
    ...(await notPersistent(nics, context)),
  ];
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

/** NetworkManager reads the profile of such a NIC at a boot, and sets nothing of it. */
async function notPersistent(nics: readonly NicResult[], context: Context): Promise<string[]> {
  const { backend, hostRoot, macs } = context;
  const configured = new Set(
    nics.filter(({ state }) => state === 'Configured').map(({ mac }) => mac),
  );
  const isOfNetworkManager = backend.name === 'keyfile' || backend.name === 'ifcfg';
  if (!isOfNetworkManager || configured.size === 0) return [];
  const { links } = await observeLinks(context, macs);
  return links
    .filter(({ mac, index }) => configured.has(mac) && isLeftAlone(hostRoot, index))
    .map(({ name }) => `NotPersistent ${name}, NetworkManager is told not to manage it`);
}
