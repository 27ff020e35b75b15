import { hash } from 'node:crypto';
import type { Page } from './read-nodes.ts';

/**
 * Returns the entity tag for a page in a business cluster. The tag is weak: observedAt and the continue token differ
 * between two reads with equal objects.
 */
export function pageTag(providerId: string, { items, unreadable }: Page): string {
  const content = JSON.stringify([providerId, items, unreadable]);
  return `W/"${hash('sha256', content, 'base64url')}"`;
}

/** Returns whether an If-None-Match header names the tag; tags compare weakly (RFC 9110, 13.1.2). */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  const named = ifNoneMatch.split(',').map(opaque);
  return named.includes('*') || named.includes(opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
