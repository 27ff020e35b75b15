import type { Mutant } from './mutant.ts';
import type { Proof } from './proofs.ts';
import type { Scenario } from './scenario.ts';

/** Number of failures known from the field. */
const total = 88;

export interface Evidence {
  /** Mutants by the id of the scenario that they bring back. */
  readonly mutants: Readonly<Record<string, Mutant>>;
  /** Tests with ids in files that CI runs. */
  readonly proofs: readonly Proof[];
}

/** Returns each reason why the table proves less than it states. */
export function gapsIn(scenarios: readonly Scenario[], evidence: Evidence): string[] {
  const known = new Set<string>(scenarios.map(({ id }) => id));
  const unknown = evidence.proofs.flatMap(({ file, ids }) =>
    ids.filter((id) => !known.has(id)).map((id) => `${id}: ${file} names it, the table does not`),
  );
  return [
    ...numbering(scenarios),
    ...unknown,
    ...scenarios.flatMap((scenario) => gapsOf(scenario, evidence)),
  ];
}

function numbering(scenarios: readonly Scenario[]): string[] {
  const ids = scenarios.map(({ id }) => id);
  const expected = Array.from({ length: total }, (_, n) => `RW-${String(n + 1).padStart(2, '0')}`);
  const missing = expected.filter((id) => !ids.includes(id as Scenario['id']));
  const extra = ids.filter((id, at) => !expected.includes(id) || ids.indexOf(id) !== at);
  return [...missing.map((id) => `${id}: missing`), ...extra.map((id) => `${id}: extra`)];
}

function gapsOf(scenario: Scenario, { mutants, proofs }: Evidence): string[] {
  const { id } = scenario;
  const mutant = mutants[id];
  const files = proofs.filter(({ ids }) => ids.includes(id)).map(({ file }) => file);
  if ('outOfScope' in scenario) {
    return mutant || files.length > 0 ? [`${id}: out of scope, but has a mutant or a test`] : [];
  }
  return [
    ...(files.length === 0 ? [`${id}: no test in CI has [${id}] in its title`] : []),
    ...(scenario.by === 'agent' && !mutant ? [`${id}: no mutant`] : []),
    ...(mutant && !files.includes(mutant.noticedBy)
      ? [`${id}: ${mutant.noticedBy} has no test with [${id}] for its mutant`]
      : []),
  ];
}
