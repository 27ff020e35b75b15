import { isIP } from 'node:net';

/** A user's target for an explanation or a search. */
export type Target =
  | { readonly kind: 'uuid' | 'mac' | 'address' | 'node'; readonly value: string }
  | {
      readonly kind: 'nic';
      /** Undefined: the node name is in one business cluster only. */
      readonly providerId: string | undefined;
      readonly nodeName: string;
      readonly nic: string;
    };

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const mac = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/**
 * Reads a target: port or server id, MAC, address, NODE/NIC, PROVIDER/NODE/NIC or a node's name; undefined: no such
 * form.
 */
export function parseTarget(text: string): Target | undefined {
  if (uuid.test(text)) return { kind: 'uuid', value: text.toLowerCase() };
  if (mac.test(text)) return { kind: 'mac', value: text.toLowerCase().replaceAll('-', ':') };
  const [address = ''] = text.split('/');
  if (isIP(address) !== 0) return { kind: 'address', value: address };
  return parseName(text.split('/'));
}

/** Reads [PROVIDER/]NODE[/NIC]; undefined: neither. */
function parseName(parts: readonly string[]): Target | undefined {
  const nic = parts.at(-1) ?? '';
  if (parts.length > 1 && parts.length <= 3 && /^multinic[0-9]$/.test(nic)) {
    const [nodeName = '', providerId] = parts.slice(0, -1).toReversed();
    return { kind: 'nic', providerId, nodeName, nic };
  }
  const isNode = parts.length <= 2 && parts.every((part) => /^[a-z0-9.-]+$/i.test(part));
  return isNode ? { kind: 'node', value: parts.join('/') } : undefined;
}
