import { hash } from 'node:crypto';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Page } from './read-nodes.ts';

const hourMs = 3_600_000;

/**
 * Returns the entity tag for a page in a business cluster. The tag is weak: observedAt and the continue token differ
 * between two reads with equal objects. Check times count by the hour of the latest check, and names of check Jobs never:
 * a thousand unchanged nodes write three such checks per minute.
 */
export function pageTag(providerId: string, { items, unreadable }: Page): string {
  const hours = items.map(({ status }) => hourOf(status?.applied?.checkedAt));
  const latest = Math.max(0, ...hours);
  const content = JSON.stringify([providerId, items.map(withoutChecks), unreadable, latest]);
  return `W/"${hash('sha256', content, 'base64url')}"`;
}

function withoutChecks({ status, ...node }: ExistingNodeConfig): object {
  if (!status) return node;
  const { applied, interfaceStatuses = [], ...rest } = status;
  const { checkedAt: _, knownFrom, ...record } = applied ?? {};
  const from = knownFrom && { knownFrom: knownFrom.uid };
  const nics = interfaceStatuses.map(({ lastChecked: _at, ...nic }) => nic);
  return {
    ...node,
    status: { ...rest, ...(applied ? { applied: { ...record, ...from } } : {}), nics },
  };
}

function hourOf(time = ''): number {
  return Math.floor((Date.parse(time) || 0) / hourMs);
}

/** Returns whether an If-None-Match header names the tag; tags compare weakly (RFC 9110, 13.1.2). */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  const named = ifNoneMatch.split(',').map(opaque);
  return named.includes('*') || named.includes(opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
