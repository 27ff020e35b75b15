import { namedSome } from '../../api/named-some.ts';
import { type Component, notReady } from './components.ts';
import { contestedText, type Summary } from './conditions.ts';
import type { Findings } from './findings.ts';

/** Texts used by the legacy operator. */
const allRun = 'All components are running successfully';
const someDoNot = 'Some components are not ready';
/** Maximum number of problems in the status message; condition Accepted lists all. */
const shown = 3;

/** Returns the phase and reason: problems for the user come before problems that lifecycle retries. */
export function summaryOf(findings: Findings, components: readonly Component[]): Summary {
  const { problems, errors, notices } = findings;
  const [stalled] = notices.filter(({ condition }) => condition === 'Stalled');
  if (problems.length > 0) {
    const texts = problems.map(({ message }) => message);
    const message = namedSome(texts, shown, { separator: '; ', before: '; ' });
    return { phase: 'Error', reason: 'InvalidSpec', message, isStalled: true };
  }
  if (stalled) return { phase: 'Error', ...stalled, isStalled: true };
  if (errors.length > 0) {
    const message = errors.join('; ');
    return { phase: 'Error', reason: 'ReconcileError', message, isStalled: false };
  }
  return byComponents(findings, components);
}

function byComponents({ contested, notices }: Findings, components: readonly Component[]): Summary {
  const waiting = notReady(components);
  const failures = notices.filter(({ condition }) => condition === 'Degraded');
  const [failure] = failures;
  if (waiting.length === 0 && contested.length === 0) {
    if (failure) {
      const { reason } = failure;
      const message = failures.map((one) => one.message).join('; ');
      return { phase: 'Degraded', reason, message, isStalled: false };
    }
    const reason = 'AllComponentsReady';
    return { phase: 'Running', reason, message: allRun, isStalled: false };
  }
  const isDegraded =
    contested.length > 0 ||
    failures.length > 0 ||
    waiting.some(({ phase }) => phase === 'Degraded');
  const texts = [
    ...waiting.map(
      ({ name, phase, message }) => `${name} ${phase}${message ? ` (${message})` : ''}`,
    ),
    ...(contested.length > 0 ? [contestedText(contested)] : []),
    ...failures.map(({ message }) => message),
  ];
  return {
    phase: phaseOf(waiting, isDegraded),
    reason: 'ComponentsNotReady',
    message: `${someDoNot}: ${texts.join('; ')}`,
    isStalled: false,
  };
}

/** Error: a component cannot start until a user acts, for example a database with newer data. */
function phaseOf(waiting: readonly Component[], isDegraded: boolean): Summary['phase'] {
  if (waiting.some(({ phase }) => phase === 'Error')) return 'Error';
  return isDegraded ? 'Degraded' : 'Pending';
}
