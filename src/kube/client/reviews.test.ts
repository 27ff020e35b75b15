import { expect, it } from 'vitest';
import { reviews } from './reviews.ts';
import type { ApiRequest, Transport } from './transport.ts';

const action = { verb: 'patch', group: 'g', resource: 'things/status', namespace: 'n' } as const;

/** Returns reviews over a transport with this fixed answer. */
function answering(answer: unknown) {
  const sent: ApiRequest[] = [];
  const call = async (request: ApiRequest) => {
    sent.push(request);
    return answer;
  };
  return { sent, ...reviews({ call } as unknown as Transport) };
}

it('mayI sends a subresource as a separate attribute', async () => {
  const { mayI, sent } = answering({ status: { allowed: true } });
  expect(await mayI(action)).toBe('yes');
  const attributes = { ...action, resource: 'things', subresource: 'status' };
  expect(sent[0]?.body).toMatchObject({ spec: { resourceAttributes: attributes } });
});

it.each([
  ['no', { allowed: false }],
  ['no', { allowed: false, reason: 'RBAC: role "x" not found' }],
  ['undecided', { allowed: false, evaluationError: 'webhook timed out' }],
  // RBAC may fail to resolve one role and find the right in another role.
  ['yes', { allowed: true, evaluationError: 'role "x" not found' }],
])('mayI returns %s for status %j', async (meaning, status) => {
  expect(await answering({ status }).mayI(action)).toBe(meaning);
});

it.each([[{}], [{ status: {} }], [{ status: { allowed: 'no' } }], ['<html>']])(
  'mayI rejects %j with InvalidAnswer',
  async (answer) => {
    const failed = answering(answer).mayI(action);
    await expect(failed).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  },
);
