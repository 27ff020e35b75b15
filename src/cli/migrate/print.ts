import { migrateTexts } from '../../api/texts/migrate.ts';
import { amount, filled, type Language } from '../../api/texts/text.ts';
import { reportText } from '../output/print.ts';
import { type Skipped, tableText } from '../report.ts';
import { type Row } from './plan.ts';
import { migrationStart, type Source, sourceText } from './source.ts';
import type { Verified } from './verify.ts';

export type Output = 'table' | 'json' | 'yaml';

interface Form {
  readonly output: Output;
  readonly lang: Language;
}

export function planText(
  source: Source,
  rows: readonly Row[],
  skipped: readonly Skipped[],
  { output, lang }: Form,
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
  const states = summary === '' ? '' : ` (${summary})`;
  const start = migrationStart(source);
  return [
    tableText([header, ...lines]),
    '',
    filled(migrateTexts.planned, {
      source: sourceText(source),
      nodes: amount(rows.length, 'node'),
      states,
      start:
        start === undefined ? migrateTexts.notStarted : filled(migrateTexts.startedAt, { start }),
    })[lang],
    ...skippedLines(skipped, lang),
  ].join('\n');
}

export function verifyText(
  source: Source,
  results: readonly Verified[],
  skipped: readonly Skipped[],
  { output, lang }: Form,
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
  const summary = filled(migrateTexts.verified, {
    source: sourceText(source),
    holding,
    nodes: results.length,
  })[lang];
  return [
    ...(findings.length === 0 ? [] : [tableText([header, ...lines]), '']),
    summary,
    ...skippedLines(skipped, lang),
  ].join('\n');
}

function skippedLines(skipped: readonly Skipped[], lang: Language): string[] {
  const word = migrateTexts.skipped[lang];
  return skipped.map(({ what, why }) => `${word} ${what}: ${why}.`);
}

function orDash(cell: string): string {
  return cell === '' ? '-' : cell;
}
