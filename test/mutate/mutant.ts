/** A defect of one line that the named tests have to notice. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Vitest project and files that must turn red. */
  readonly tests: readonly [project: 'unit' | 'namespaces', ...files: string[]];
  /** A pattern of whole names: only these tests of the files are run, and one of them must turn red. */
  readonly named?: string;
}

/** The source with the defect in it; throws when the place is not there exactly once. */
export function planted(source: string, { file, find, replace }: Mutant): string {
  if (source.split(find).length !== 2) throw new Error(`${file} must hold exactly once: ${find}`);
  return source.replace(find, () => replace);
}
