import type { HeldNode } from '../api/node-configs-http.ts';
import type { View } from './view.ts';

/**
 * Name of a server's node: the metadata value when a key is configured, else the name its object already has, else the
 * server's name. Renaming a server does not rename its Kubernetes node, and the node is found by the server's id anyway,
 * so a rename never takes a running node's NICs down. Lower case, as the kubelet makes it, but an object keeps the name it
 * has as it is written; '' when nothing is known: the id of the server is never taken for a name.
 */
export function nodeNameOf(serverId: string, held: HeldNode | undefined, view: View): string {
  const server = view.servers.get(serverId);
  const key = view.input.selection.nodeNameKey;
  const mapped = key === undefined ? '' : (server?.metadata[key] ?? '').trim();
  const name = firstOf(mapped, held?.nodeName, server?.name.trim()).toLowerCase();
  return held?.nodeName.toLowerCase() === name ? held.nodeName : name;
}

function firstOf(...names: readonly (string | undefined)[]): string {
  return names.find(Boolean) ?? '';
}

/** Whether Kubernetes can have a node (and an object) of this name: RFC 1123 subdomain, at most 253 characters. */
export function isLegalNodeName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
