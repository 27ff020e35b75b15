import { expect, it } from 'vitest';
import { claims } from '../../../kube/core-resources.ts';
import { named, observedDatabase } from '../../testing/database-scene.ts';
import { RestoreAnnouncer } from './restore-announcer.ts';

const operation = {
  kind: 'restore',
  request: 'latest',
  step: 'finish',
  startedAt: '2026-11-26T10:00:00Z',
  deadline: '2026-11-26T14:00:00Z',
};
const outcome = { file: 'a.sql', at: '2026-11-26T10:05:00Z', touched: false };

/** Returns a MultiNicOperator whose claim stores this operation. */
function observedWith(stored: object) {
  const annotations = { 'multinic.io/operation': JSON.stringify({ operation: stored }) };
  const metadata = { name: 'mysql-storage-mariadb-0', annotations };
  return observedDatabase({ live: [named(claims, metadata.name, { metadata })] });
}

it.each([
  [{ ...outcome, touched: true }, 'Restored', 'a.sql is restored'],
  [
    { ...outcome, failure: 'no such file; nothing was changed' },
    'RestoreRefused',
    'the restore "latest" failed: no such file; nothing was changed',
  ],
  [
    { ...outcome, touched: true, failure: 'the disk is full' },
    'RestoreFailed',
    'the restore "latest" failed: the disk is full',
  ],
])('a restore with result %o causes one Event %s', (result, reason, message) => {
  const events: unknown[] = [];
  const announcer = new RestoreAnnouncer({ record: (_object, event) => void events.push(event) });
  announcer.note(observedWith(operation));
  const ended = observedWith({ ...operation, outcome: result });
  announcer.note(ended);
  announcer.note(ended);
  expect(events).toMatchObject([{ reason, message }]);
});
