import type { Wording } from '../api/reasons/reason-row.ts';
import type { PortFacts } from './facts.ts';
import { type Step, stepNames } from './step.ts';

/** Why a port is a NIC or not. */
export interface Explanation {
  /** The port and the answer, in one sentence. */
  readonly headline: Wording;
  /** One step per name in `stepNames`, in that order. */
  readonly steps: readonly Step[];
  /** The first failed step; undefined: no step failed. */
  readonly answer: Step | undefined;
}

/** Explains one port, from Neutron to the boot files. */
export function explainPort(_facts: PortFacts): Explanation {
  const steps = stepNames.map((name): Step => {
    const evidence = { en: 'not explained yet', ko: '아직 설명하지 않습니다' };
    return { name, result: 'skipped', reason: undefined, evidence, next: undefined };
  });
  return { headline: { en: 'Port', ko: '포트' }, steps, answer: undefined };
}
