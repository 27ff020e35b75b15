import { hash } from 'node:crypto';
import type { Page } from './read-nodes.ts';

/**
 * Entity tag of what a page holds of a business cluster. Weak: observedAt and the continue token differ between two reads of the same
 * objects.
 */
export function pageTag(providerId: string, { items, unreadable }: Page): string {
  const held = JSON.stringify([providerId, items, unreadable]);
  return `W/"${hash('sha256', held, 'base64url')}"`;
}

/** Returns whether an If-None-Match header names the tag; tags compare weakly (RFC 9110, 13.1.2). */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  const named = ifNoneMatch.split(',').map(opaque);
  return named.includes('*') || named.includes(opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
