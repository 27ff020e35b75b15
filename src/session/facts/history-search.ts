import { type HistorySearch, hasAddress, hasMac } from './history-facts.ts';
import { parseTarget, type Target } from './target.ts';

type Search = Pick<HistorySearch, 'query' | 'matches'>;

const all: Search = { query: {}, matches: () => true };

/** Returns the search for a port id, MAC, address, NIC or node. `text` undefined: all changes. Returns undefined for a text without such a form. */
export function historySearchOf(text: string | undefined): Search | undefined {
  if (text === undefined) return all;
  if (/^multinic[0-9]$/.test(text)) return { query: {}, matches: ({ name }) => name === text };
  const target = parseTarget(text);
  return target && searchFor(target);
}

function searchFor(target: Target): Search {
  if (target.kind === 'uuid') return { ...all, query: { portId: target.value } };
  if (target.kind === 'mac') return { query: {}, matches: hasMac(target.value) };
  if (target.kind === 'address') return { query: {}, matches: hasAddress(target.value) };
  if (target.kind === 'nic') {
    const { nodeName, providerId, nic } = target;
    return { query: { nodeName, providerId }, matches: ({ name }) => name === nic };
  }
  const [nodeName = '', providerId] = target.value.split('/').toReversed();
  return { ...all, query: { nodeName, providerId } };
}
