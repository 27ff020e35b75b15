import { namedSome } from '../../../api/named-some.ts';
import type { DuplicateCluster } from '../result.ts';

const shownNodes = 5;

/** Returns the message about a business cluster under several ids. */
export function duplicateText({ providerId, ids, staying }: DuplicateCluster): string {
  const others = ids.map((id) => `"${id}"`).join(', ');
  const texts = [
    `business cluster "${providerId}" is registered as ${others}, too`,
    ...(staying.length > 0 ? [stayingText(staying, others)] : []),
    'keep the registration Secret of one id, set spec.credentials.k8sProviderID of all OpenstackConfigs for this cluster to that id, then delete the registration Secrets of the other ids',
  ];
  return texts.join('; ');
}

function stayingText(staying: readonly string[], ids: string): string {
  return `${namedSome(staying, shownNodes, { noun: 'node' })}: delivered under ${ids} only, and never removed from there`;
}
