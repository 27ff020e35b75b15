/** A one-line defect, and the file with the test that must turn red. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test file; its tests with the id of the scenario are run. */
  readonly noticedBy: string;
}

/** Returns the source with the defect. Throws if `find` does not occur exactly once. */
export function planted(source: string, { file, find, replace }: Mutant): string {
  if (source.split(find).length !== 2) throw new Error(`${file} must hold exactly once: ${find}`);
  return source.replace(find, () => replace);
}
