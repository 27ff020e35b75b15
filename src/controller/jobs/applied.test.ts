import { expect, it } from 'vitest';
import { protocol } from '../../api/job.ts';
import { appliedIn } from './applied.ts';

const start = new Date('2026-01-01T12:00:00Z');

it("appliedIn reads a later version's record and drops unknown fields and reasons", () => {
  const written = {
    action: 'apply',
    content: 'c',
    nodeName: 'n',
    nodeUid: 'u',
    job: 'j',
    attempt: 1,
    at: start.toISOString(),
    done: true,
    protocol: protocol + 1,
    reasons: ['WaitingForNIC', 'ReasonOfALaterVersion'],
    field: 'of a later version',
  };
  const { field: _, ...known } = written;
  expect(appliedIn({ applied: written })).toEqual({
    ...known,
    protocol,
    reasons: ['WaitingForNIC'],
  });
});
