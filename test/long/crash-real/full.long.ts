import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killPointsAt } from '../../fixtures/crash/kill-points.ts';
import { killSuite, type Row } from '../../fixtures/crash/kills.ts';
import { openRealParts } from '../../fixtures/e2e/site.ts';
import { tableOf } from './table.ts';

// Writes by each part in each stage, including the lease and Events.
const points = killPointsAt(
  'operator.finalizer.add after',
  'operator.node-config.post before',
  'operator.node-config.post after',
  'operator.status.write after',
  'operator.inventory.write before',
  'operator.lease.write after',
  'operator.event.write before',
  'operator.node-config.delete after',
  'operator.finalizer.remove before',
  'viola.node-config.apply before',
  'viola.node-config.apply after',
  'viola.node-config.delete before',
  'controller.finalizer.add before',
  'controller.config-map.create before',
  'controller.job.create after',
  'controller.job.unsuspend after',
  'controller.status.write before',
  'controller.status.write after',
  'controller.lease.write before',
  'controller.event.write after',
  'controller.finalizer.remove before',
  'agent.journal.write after',
  'agent.kernel.batch before',
  'agent.kernel.batch after',
  'agent.file.commit before',
  'agent.state.write before',
  'agent.result.write before',
  'agent.result.write after',
);

killSuite(points, () => openRealParts((line) => void process.stdout.write(`${line}\n`)), keepTable);

async function keepTable(rows: readonly Row[]): Promise<void> {
  const table = tableOf(rows);
  process.stdout.write(`\n${table}`);
  const isWhole = rows.length === points.length;
  if (isWhole) await writeFile(join(import.meta.dirname, 'README.md'), table);
}
