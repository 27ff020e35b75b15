import { reportText } from '../output/print.ts';
import { type Skipped, tableText } from '../report.ts';
import type { Applied } from './apply.ts';
import type { Reverted } from './back.ts';
import { countOf, type Row } from './plan.ts';
import { migrationStart, type Source, sourceText } from './source.ts';
import type { Verified } from './verify.ts';

export type Output = 'table' | 'json' | 'yaml';

export function planText(
  source: Source,
  rows: readonly Row[],
  skipped: readonly Skipped[],
  output: Output,
): string {
  const findings = rows.filter(({ state }) => state !== 'same');
  if (output !== 'table') {
    return reportText({ kind: 'BizConfigMigrationPlan', items: rows, findings, skipped }, output);
  }
  const header = ['NODE', 'OBJECT', 'STATE', 'ACTION', 'WRITER', 'MESSAGE'];
  const lines = rows.map(({ node, object, state, action, writer, field, message }) =>
    [node, object, state, action, writer, field === '' ? message : `${field}: ${message}`].map(
      orDash,
    ),
  );
  const counts = Object.entries(Object.groupBy(rows, ({ state }) => state));
  const summary = counts.map(([state, found]) => `${found.length} ${state}`).join(', ');
  const start = migrationStart(source);
  return [
    tableText([header, ...lines]),
    '',
    `${sourceText(source)}: ${countOf(rows.length, 'node')}${summary === '' ? '' : ` (${summary})`}; migration ${start === undefined ? 'not started' : `started at ${start}`}.`,
    ...skippedLines(skipped),
  ].join('\n');
}

export function verifyText(
  source: Source,
  results: readonly Verified[],
  skipped: readonly Skipped[],
  output: Output,
): string {
  const findings = results.filter(({ holds }) => !holds);
  if (output !== 'table') {
    const report = { kind: 'BizConfigMigrationCheck', items: results, findings, skipped };
    return reportText(report, output);
  }
  const header = ['NODE', 'OBJECT', 'WRITER', 'MESSAGE'];
  const lines = findings.map(({ node, object, writer, message }) =>
    [node, object, writer, message].map(orDash),
  );
  const holding = results.length - findings.length;
  const summary = `${sourceText(source)}: ${holding} of ${results.length} nodes verified.`;
  return [
    ...(findings.length === 0 ? [] : [tableText([header, ...lines]), '']),
    summary,
    ...skippedLines(skipped),
  ].join('\n');
}

export function appliedText({ created, released, existing, refused }: Applied): string {
  return [
    `Created ${countOf(created.length, 'object')}, removed the label of ${countOf(released.length, 'object')}.`,
    ...existing.map((node) => `${node}: another writer created its object, which stays unchanged.`),
    ...refused.map(
      ({ node, message }) =>
        `${node}: the API server refused its object: ${message}; correct this, and run apply again.`,
    ),
  ].join('\n');
}

/** Returns the warning before `back`; `nodes` differ from their entries, or have none. */
export function changingText(source: Source, nodes: readonly string[]): string {
  const named = nodes.slice(0, 5).join(', ');
  const more = nodes.length > 5 ? ` and ${nodes.length - 5} more` : '';
  return `${countOf(nodes.length, 'node')} ${nodes.length === 1 ? 'differs' : 'differ'} from ${sourceText(source)}: after "back", the controller changes or removes NICs of ${named}${more}. To avoid this, undo the edit first.`;
}

export function revertText(source: Source, { restored, left, isFollowed }: Reverted): string {
  const next = isFollowed
    ? 'The controller follows it again.'
    : 'The controller has not confirmed this yet: check that it runs with controller.bizConfig.mode=active.';
  return [
    ...left.map(
      ({ node, writer }) =>
        `${node}: ${writer} has written its object since then; the object stays unchanged.`,
    ),
    `Restored the label of ${countOf(restored.length, 'object')} and the mode of ${sourceText(source)}. ${next}`,
  ].join('\n');
}

/** Returns the steps after `apply`, in order. */
export function nextStepsText(source: Source): string {
  const { name, namespace } = source.config.metadata;
  const resource = `multinicbizconfigs.${source.group}`;
  const flags = `${name} -n ${namespace} --group ${source.group}`;
  return [
    'Next:',
    `  1. multinic migrate biz-config verify ${flags}`,
    '  2. Let Viola write each node; it takes the objects over from field manager biz-config.',
    '  3. When no MultiNicBizConfig is needed any more: chart multinic-agent, controller.bizConfig.mode=off (--biz-config=off).',
    `  4. kubectl -n ${namespace} delete ${resource} ${name} (all objects and NICs stay).`,
    `To go back before step 4: multinic migrate biz-config back ${flags}`,
  ].join('\n');
}

function skippedLines(skipped: readonly Skipped[]): string[] {
  return skipped.map(({ what, why }) => `Skipped ${what}: ${why}.`);
}

function orDash(cell: string): string {
  return cell === '' ? '-' : cell;
}
