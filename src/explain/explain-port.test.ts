import { describe, expect, it } from 'vitest';
import { reasons } from '../api/reasons.ts';
import { explainPort } from './explain-port.ts';
import type { PortFacts } from './facts.ts';
import { stepNames } from './step.ts';
import { type Fault, factsOf, faults, further } from './testing/faults.ts';
import { hidden, portFacts } from './testing/healthy.ts';

const hideable = [
  'port',
  'cluster',
  'node',
  'kubernetesNode',
  'job',
  'neighbours',
  'versions',
] as const;

/** Names the fault that an explanation reports; undefined: none. */
function namedIn(facts: PortFacts) {
  const { answer, steps } = explainPort(facts);
  const step = answer ?? steps.find(({ result }) => result === 'warn');
  return step && { step: step.name, result: step.result, reason: step.reason };
}

/** Returns every set of the names, the empty one too. */
function subsets<T>(names: readonly T[]): readonly (readonly T[])[] {
  return names.reduce<readonly (readonly T[])[]>(
    (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
    [[]],
  );
}

function hiding(facts: PortFacts, ...names: readonly (keyof PortFacts)[]): PortFacts {
  return { ...facts, ...Object.fromEntries(names.map((name) => [name, hidden(name)])) };
}

describe.each([...faults, ...further])('fault $title', (fault: Fault) => {
  const facts = factsOf(fault);
  const named = { step: fault.step, result: fault.result ?? 'fail', reason: fault.reason };

  it('is named by the right step, with evidence and the next step', () => {
    expect(namedIn(facts)).toEqual(named);
    const step = explainPort(facts).steps.find(({ name }) => name === fault.step);
    for (const value of fault.evidence) expect(step?.evidence.en).toContain(value);
    expect(step?.evidence.ko).not.toBe('');
    expect(step?.next?.commands[0] ?? '').toBe(fault.command);
    expect(step?.next?.text.en).not.toBe('');
    expect(Object.keys(reasons)).toContain(fault.reason);
  });

  it.each(fault.decides)('leaves its step skipped when the fact %s is hidden', (name) => {
    const { steps } = explainPort(hiding(facts, name));
    const step = steps.find((each) => each.name === fault.step);
    expect(step?.result).toBe('skipped');
    expect(step?.evidence.en).not.toBe('');
  });

  it('keeps its reason, or has none, whichever facts are hidden', () => {
    for (const names of subsets(hideable)) {
      const found = namedIn(hiding(facts, ...names));
      if (found) expect(found, names.join()).toEqual(named);
    }
  });
});

describe('explanation of a NIC without a fault', () => {
  it('has ten steps that are ok', () => {
    const { steps, answer, headline } = explainPort(portFacts);
    expect(steps.map(({ name }) => name)).toEqual(stepNames);
    expect(steps.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect(answer).toBeUndefined();
    expect(headline.en).toMatch(/is the configured NIC multinic1 on node worker-18$/);
  });

  it.each(hideable)('names no fault when the fact %s is hidden', (name) => {
    const { steps } = explainPort(hiding(portFacts, name));
    expect(steps.filter(({ result }) => result !== 'ok' && result !== 'skipped')).toEqual([]);
    // The status of the node shows what its Job did.
    if (name !== 'job') expect(steps.some(({ result }) => result === 'skipped')).toBe(true);
  });

  it('has ten steps that are skipped when every fact is hidden', () => {
    const { steps } = explainPort(hiding(portFacts, ...hideable));
    expect(steps.map(({ result }) => result)).toEqual(stepNames.map(() => 'skipped'));
  });
});
