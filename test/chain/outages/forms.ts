import type { RuleInput } from '../../../rig/fault-proxy/rules.ts';

/** How something that others need is away: what the proxy before it does meanwhile. */
export const forms = {
  gone: { fault: 'no-backend' },
  'takes-no-bytes': { fault: 'black-hole' },
  'never-answers': { fault: 'hang' },
} as const satisfies Record<string, RuleInput>;

export type Form = keyof typeof forms;

export const allForms = Object.keys(forms) as Form[];
