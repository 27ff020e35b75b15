import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JobRequest, NicResult } from '../api/job.ts';
import type { BeforeChange } from './apply/before-change.ts';
import type { Context } from './apply/context.ts';
import { agentDirectory } from './apply/memory.ts';
import { renameFile, writeNew } from './apply/whole-file.ts';
import type { PathReport } from './path/paths.ts';
import type { WholePlan } from './planning/plan.ts';
import { type Plan, planText } from './planning/unit.ts';
import { type Findings, outcomeOf } from './result.ts';

/** Report about a run, for reading on a node without Kubernetes. */
export interface LastRun {
  readonly request: Pick<JobRequest, 'uid' | 'generation' | 'action' | 'attempt'>;
  readonly plan: WholePlan;
  readonly findings: Findings;
  readonly before: Pick<BeforeChange, 'paths'>;
  readonly after: PathReport;
}

const path = `${agentDirectory}/last.txt`;
const formerPath = `${agentDirectory}/last.1.txt`;
const maxBytes = 65_536;
const cutMark = '\n… cut at 64 KiB\n';

/** Writes the report without a disk sync; the report before stays as `last.1.txt`. A failure is only logged. */
export async function writeLastRun(
  run: LastRun,
  { hostRoot, perform, clock, log }: Pick<Context, 'hostRoot' | 'perform' | 'clock' | 'log'>,
): Promise<void> {
  const text = lastRunText(run, clock.now());
  const [to, former] = [path, formerPath].map((name) => join(hostRoot, name)) as [string, string];
  try {
    await perform('agent.last.write', async () => {
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      renameFile(to, former);
      writeNew(`${to}.new`, text, 0o644);
      renameFile(`${to}.new`, to);
    });
  } catch (error) {
    log.warn({ err: error, path }, 'the report of the run cannot be written');
  }
}

/** Returns the report's text, at most 64 KiB. */
export function lastRunText(run: LastRun, now: Date): string {
  const { request, plan, findings, before, after } = run;
  const { nics, warnings } = findings;
  const { uid, generation, action, attempt } = request;
  const text = [
    `time: ${now.toISOString()}`,
    `object: ${uid}`,
    `generation: ${generation}`,
    `action: ${action}, attempt ${attempt}`,
    `outcome: ${outcomeOf(findings)}`,
    ...section('results', nics.map(nicLine)),
    ...section('warnings', warnings),
    ...section('plan', [plan.removal, plan.apply].flatMap(planLines)),
    ...section('lookups before', before.paths?.lines ?? []),
    ...section('lookups after', after.lines),
    '',
  ].join('\n');
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const room = maxBytes - Buffer.byteLength(cutMark);
  // A character cut in half becomes three bytes.
  return `${bytes.subarray(0, room - 3).toString()}${cutMark}`;
}

function planLines(plan: Plan): string[] {
  const isEmpty = plan.units.length + plan.refused.length === 0;
  return isEmpty ? [] : planText(plan).trimEnd().split('\n');
}

function nicLine({ index, mac, name, state, reason, message }: NicResult): string {
  return `${index} ${mac} ${name || '(no link)'}: ${state} ${reason}${message ? `, ${message}` : ''}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}
