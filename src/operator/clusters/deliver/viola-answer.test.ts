import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bodyOf, isNoSuchNode, isNoSuchRoute, pageOf, resultsOf } from './viola-answer.ts';

const now = new Date(0);
const pages = [
  ['a page of a proxy', '<!DOCTYPE html><html>login</html>'],
  ['a cut-off body', '{"items":['],
  ['an empty body', ''],
] as const;

describe.each(pages)('an answer of Viola with %s', (_, text) => {
  const answer = (status: number) => ({ status, headers: {}, text });

  it('status 200 is a bad answer, and never an empty list', async () => {
    await expect(pageOf(answer(200), () => true, now)).rejects.toMatchObject({
      service: 'viola',
      kind: 'badAnswer',
    });
  });

  it('status 404 proves neither a missing node nor a missing route', () => {
    expect([isNoSuchNode(answer(404)), isNoSuchRoute(answer(404))]).toEqual([false, false]);
  });

  it.each([404, 502, 503])('status %i is an error with the status', (status) => {
    expect(() => bodyOf(answer(status), 200, z.unknown(), now)).toThrow(
      `unexpected status ${status}`,
    );
  });

  it.each([200, 409, 503])('status %i has no results per node', (status) => {
    expect(resultsOf(answer(status))).toBeUndefined();
  });
});
