import { it as vitestIt } from 'vitest';
import { inTurn } from '../../../rotation.ts';

/** Each run takes every second test of fields; the long suite takes all. */
export const it = inTurn(
  'fields on OpenStack',
  2,
  (title: string, check: () => Promise<void>, timeoutMs?: number) =>
    vitestIt(title, check, timeoutMs),
);
