import { describe, expect, it } from 'vitest';
import { recordedFaults } from '../../test/fixtures/recorded-faults.ts';
import { reasons } from '../api/reasons.ts';
import { stepNames } from '../api/step-names.ts';
import { explainPort } from './explain-port.ts';
import type { PortFacts } from './facts.ts';
import { type Fault, factsOf } from './testing/fault.ts';
import { further } from './testing/further-faults.ts';
import { hidden, portFacts } from './testing/healthy.ts';
import { observedFaults } from './testing/observed.ts';

const hideable = [
  'port',
  'cluster',
  'node',
  'kubernetesNode',
  'job',
  'neighbours',
  'versions',
] as const;

interface ExplainedFault extends Omit<Fault, 'facts'> {
  readonly facts: PortFacts;
  /** True: a hidden fact turns the failure into a warning. */
  readonly isWeakened?: boolean;
}

function withFacts(fault: Fault): ExplainedFault {
  return { ...fault, facts: factsOf(fault) };
}

/** Facts required by a recorded fault's step, by the fault's number; default: the port. */
const decides: Readonly<Record<number, readonly (keyof PortFacts)[]>> = {
  // With a hidden cluster the failed delivery remains, as a warning.
  13: [],
  14: ['node'],
  15: ['node'],
  16: ['node'],
  17: ['node'],
  18: ['node'],
  19: ['node'],
  20: ['kubernetesNode', 'node'],
};

const recorded = recordedFaults.map(({ number, commands, ...fault }) => ({
  ...fault,
  title: `${number} ${fault.title}`,
  // The CLI adds the user's kubeconfig context.
  command: commands[0]?.replace(' --context business', '') ?? '',
  decides: decides[number] ?? (['port'] as const),
  isWeakened: number === 13,
}));

/** Returns the fault reported by an explanation; undefined: none. */
function namedIn(facts: PortFacts) {
  const { answer, steps } = explainPort(facts);
  const step = answer ?? steps.find(({ result }) => result === 'warn');
  return step && { step: step.name, result: step.result, reason: step.reason };
}

/** Returns every subset, including the empty set. */
function subsets<T>(names: readonly T[]): readonly (readonly T[])[] {
  return names.reduce<readonly (readonly T[])[]>(
    (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
    [[]],
  );
}

function hiding(facts: PortFacts, ...names: readonly (keyof PortFacts)[]): PortFacts {
  return { ...facts, ...Object.fromEntries(names.map((name) => [name, hidden(name)])) };
}

const others = [...further, ...observedFaults].map(withFacts);

describe.each<ExplainedFault>([...recorded, ...others])('fault $title', (fault) => {
  const { facts, isWeakened = false } = fault;
  const named = { step: fault.step, result: fault.result ?? 'fail', reason: fault.reason };

  it('the explanation reports the fault in the right step, with evidence and next step', () => {
    expect(namedIn(facts)).toEqual(named);
    const step = explainPort(facts).steps.find(({ name }) => name === fault.step);
    for (const value of fault.evidence) expect(step?.evidence.en).toContain(value);
    expect(step?.evidence.ko).not.toBe('');
    expect(step?.next?.commands[0] ?? '').toBe(fault.command);
    expect(step?.next?.text.en).not.toBe('');
    expect(Object.keys(reasons)).toContain(fault.reason);
  });

  it.each(fault.decides)('the step is skipped when the fact %s is hidden', (name) => {
    const { steps } = explainPort(hiding(facts, name));
    const step = steps.find((each) => each.name === fault.step);
    expect(step?.result).toBe('skipped');
    expect(step?.evidence.en).not.toBe('');
  });

  it('the explanation has the same reason or no reason when facts are hidden', () => {
    for (const names of subsets(hideable)) {
      const found = namedIn(hiding(facts, ...names));
      const weaker = isWeakened ? [{ ...named, result: 'warn' }] : [];
      if (found) expect([named, ...weaker], names.join()).toContainEqual(found);
    }
  });
});

describe('explanation without a fault', () => {
  it('the explanation has ten ok steps when nothing is wrong', () => {
    const { steps, answer, headline } = explainPort(portFacts);
    expect(steps.map(({ name }) => name)).toEqual(stepNames);
    expect(steps.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect(answer).toBeUndefined();
    expect(headline.en).toMatch(/is the configured NIC multinic1 on node worker-18$/);
  });

  it.each(hideable)('the explanation has no fault when the fact %s is hidden', (name) => {
    const { steps } = explainPort(hiding(portFacts, name));
    expect(steps.filter(({ result }) => result !== 'ok' && result !== 'skipped')).toEqual([]);
    // The node status already contains the Job's result.
    if (name !== 'job') expect(steps.some(({ result }) => result === 'skipped')).toBe(true);
  });

  it('the explanation has ten skipped steps when every fact is hidden', () => {
    const { steps } = explainPort(hiding(portFacts, ...hideable));
    expect(steps.map(({ result }) => result)).toEqual(stepNames.map(() => 'skipped'));
  });
});
