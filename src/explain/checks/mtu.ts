import { namedSome, namedSomeInKorean } from '../../api/named-some.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled } from '../../api/texts/text.ts';
import { nextFor } from '../next-steps.ts';
import type { CheckWarning } from './check-warning.ts';

/** Network with different MTUs. */
export interface MtuDifference extends CheckWarning {
  readonly networkId: string;
  /** Network name, or id if unnamed. */
  readonly network: string;
  /** NICs with an MTU unlike most NICs in the network. */
  readonly different: readonly NicOfNode[];
}

interface NicOfNode {
  readonly node: NodeView;
  readonly nic: NicView;
}

/** Returns networks with different MTUs. */
export function mtuDifferences(nodes: readonly NodeView[]): readonly MtuDifference[] {
  const byNetwork = new Map<string, NicOfNode[]>();
  for (const node of nodes) {
    for (const nic of node.nics) {
      if (nic.networkId === undefined || nic.mtu === undefined) continue;
      const list = byNetwork.get(nic.networkId) ?? [];
      list.push({ node, nic });
      byNetwork.set(nic.networkId, list);
    }
  }
  return [...byNetwork].flatMap(([networkId, nics]) => difference(networkId, nics) ?? []);
}

function difference(networkId: string, nics: readonly NicOfNode[]): MtuDifference | undefined {
  const usual = mostFrequent(nics.map(({ nic }) => nic.mtu ?? 0));
  const different = nics.filter(({ nic }) => nic.mtu !== usual);
  const [first] = different;
  if (!first) return undefined;
  const network = first.nic.networkName ?? networkId;
  const rest = nics.length - different.length;
  const list = different.map(({ node, nic }) => `${node.nodeName} ${nic.name} has ${nic.mtu}`);
  const listKo = different.map(({ node, nic }) => `${node.nodeName} ${nic.name}: ${nic.mtu}`);
  const evidence = filled(doctorTexts.mtuDiffers, {
    nics: amount(rest, 'NIC'),
    network,
    have: rest === 1 ? 'has' : 'have',
    usual,
    others: {
      en: namedSome(list, shownNics),
      ko: namedSomeInKorean(listKo, shownNics),
    },
  });
  const next = nextFor('MtuDiffers', { nodeName: first.node.nodeName });
  return { reason: 'MtuDiffers', evidence, next, networkId, network, different };
}

const shownNics = 3;

/** Returns the most frequent value; among equally frequent values the largest. */
function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first] = [...counts].toSorted(([a, m], [b, n]) => n - m || b - a);
  return first?.[0] ?? 0;
}
