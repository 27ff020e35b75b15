import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { hrefTo } from './location.ts';

export type SubjectLink = ScreenAnswer<'search'>['hits'][number]['link'];

/** Returns the address of a subject's screen; undefined: the subject has none. */
export function hrefOf(link: SubjectLink): string | undefined {
  switch (link.kind) {
    case 'cluster':
      return hrefTo('nodes', { cluster: link.providerId });
    case 'config':
      return hrefTo('config', { namespace: link.namespace, name: link.name });
    case 'node':
      return hrefToNode(link.providerId, link.nodeName);
    case 'nic':
      return hrefToNic(link.providerId, link.nodeName, link.nic);
    case 'port':
      return hrefTo('port', { port: link.portId });
    case 'other':
    default:
      return undefined;
  }
}

export function hrefToNode(cluster: string, node: string): string {
  return hrefTo('node', { cluster, node });
}

export function hrefToNic(cluster: string, node: string, nic: string): string {
  return hrefTo('nic', { cluster, node, nic });
}

/** Returns the address of an OpenstackConfig's screen; `key` is namespace/name. */
export function hrefToConfig(key: string): string {
  const [namespace = '', name = ''] = key.split('/');
  return hrefTo('config', { namespace, name });
}
