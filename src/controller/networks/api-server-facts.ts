import type { ApiServer } from '../../api/job.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type AddressSource, endpointSources, serviceSource } from './api-server.ts';
import type { GuardedReads } from './guarded-reads.ts';

const maxEndpoints = 8;

/** Returns a function that reads the API server's addresses; a failed read leaves the addresses of `last` in place. */
export function createApiServerReader(
  client: Pick<KubeClient, 'find'>,
  { attempt }: Pick<GuardedReads, 'attempt'>,
) {
  const service = serviceSource(client);
  const endpoints = endpointSources(client);

  async function addresses<T>(
    sources: readonly AddressSource[],
    last: T,
    signal: AbortSignal,
  ): Promise<T | Awaited<ReturnType<AddressSource['read']>>> {
    let isUnknown = false;
    for (const source of sources) {
      const outcome = await attempt(source, async () => source.read(signal), signal);
      if ('value' in outcome) {
        if (outcome.value) return outcome.value;
      } else isUnknown ||= outcome.isUnknown;
    }
    return isUnknown ? last : undefined;
  }

  return async (
    last: ApiServer | undefined,
    signal: AbortSignal,
  ): Promise<ApiServer | undefined> => {
    const lastService = last?.service && [last.service];
    const [address] = (await addresses([service], lastService, signal)) ?? [];
    const list = (await addresses(endpoints, last?.endpoints, signal)) ?? [];
    if (!address && list.length === 0) return undefined;
    return { ...(address ? { service: address } : {}), endpoints: list.slice(0, maxEndpoints) };
  };
}
