import type { NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import { isLeftAlone } from './observe/family.ts';
import { observeLinks } from './observe/host.ts';
import { warningsOf } from './result.ts';

/** What is right now but may surprise, with what a boot will not bring back. */
export async function warningsOn(
  nics: readonly NicResult[],
  context: Context,
): Promise<readonly string[]> {
  return [...warningsOf(nics, context.sysctls), ...(await notPersistent(nics, context))];
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
