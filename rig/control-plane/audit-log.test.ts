import { expect, test } from 'vitest';
import { parseAuditLog } from './audit-log.ts';

const created = {
  kind: 'Event',
  stage: 'ResponseComplete',
  verb: 'create',
  user: { username: 'multinic-viola', groups: ['system:authenticated'] },
  userAgent: 'multinic',
  responseStatus: { metadata: {}, code: 201 },
  requestReceivedTimestamp: '2026-11-21T03:29:26.704334Z',
  objectRef: { resource: 'jobs', apiGroup: 'batch', namespace: 'multinic-agents', name: 'a' },
};
const line = JSON.stringify(created);

test('an entry says who did what to which object, and with which outcome', () => {
  expect(parseAuditLog(`${line}\n`)).toEqual([
    {
      verb: 'create',
      user: 'multinic-viola',
      userAgent: 'multinic',
      code: 201,
      at: '2026-11-21T03:29:26.704334Z',
      group: 'batch',
      resource: 'jobs',
      subresource: '',
      namespace: 'multinic-agents',
      name: 'a',
      dryRun: false,
    },
  ]);
});

test('an entry says whether it was a dry run', () => {
  const dry = JSON.stringify({ ...JSON.parse(line), requestURI: '/api/v1/nodes/n?dryRun=All&x=y' });
  expect(parseAuditLog(`${dry}\n`)).toMatchObject([{ dryRun: true }]);
});

test('a line that is still being written is left for the next reading', () => {
  expect(parseAuditLog(`${line}\n${line.slice(0, 40)}`)).toHaveLength(1);
  expect(parseAuditLog(line.slice(0, 40))).toEqual([]);
});

test('a watch that is still open is no finished request', () => {
  const open = JSON.stringify({ ...created, stage: 'ResponseStarted', verb: 'watch' });
  expect(parseAuditLog(`${open}\n${line}\n`).map(({ verb }) => verb)).toEqual(['create']);
});

test('a request for no object, such as /readyz, has empty names', () => {
  const { objectRef: _, ...readyz } = created;
  expect(parseAuditLog(`${JSON.stringify(readyz)}\n`)).toMatchObject([{ resource: '', name: '' }]);
});

test.each([{ user: {} }, { user: undefined }])(
  'a request of a token that the server no longer knows has nobody: $user',
  (nobody) => {
    const refused = { ...created, ...nobody, responseStatus: { code: 401 } };
    expect(parseAuditLog(`${line}\n${JSON.stringify(refused)}\n`)).toMatchObject([
      { code: 201 },
      { user: '', code: 401 },
    ]);
  },
);
