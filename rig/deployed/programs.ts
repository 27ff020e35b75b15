import { join } from 'node:path';
import type { Pod } from '../../src/kube/core-resources.ts';

const programs = [
  { words: /(^|\/)multinic-controller$/, file: 'controller.ts' },
  { words: /\/viola-test-api:/, file: 'viola.ts' },
  { words: /\/multinic-operator:/, file: 'operator.ts' },
  { words: /(^|\/)multinic-agent$/, file: 'agent.ts' },
] as const;

/** What stands for a Pod of the deployed system; undefined for any other Pod. */
export function standInFor({ spec }: Pod): readonly string[] | undefined {
  const [container] = spec?.containers ?? [];
  const words = [...(container?.command ?? []), container?.image ?? ''];
  const found = programs.find((program) => words.some((word) => program.words.test(word)));
  return found && [process.execPath, join(import.meta.dirname, found.file)];
}
