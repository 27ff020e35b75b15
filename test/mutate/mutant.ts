/** A defect of one line that the named tests have to notice. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Vitest project and files that must turn red. */
  readonly tests: readonly [project: 'unit' | 'namespaces', ...files: string[]];
}
