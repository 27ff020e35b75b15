/** Tests in a vitest process. */
export interface Selection {
  readonly project: 'unit' | 'host';
  readonly files: readonly string[];
  /** Regular expression for full names; undefined: all tests of the files. */
  readonly pattern?: string;
}

/** A test by file and full name; with an empty name the file as a whole. */
export interface TestId {
  readonly file: string;
  readonly name: string;
}

/** Result of a vitest process. */
export interface TestRun {
  readonly isGreen: boolean;
  /** Empty for a red run without a report: vitest reached the time limit or did not start. */
  readonly failed: readonly TestId[];
  readonly passed: readonly TestId[];
}

export type Verdict =
  | { readonly kind: 'survived' }
  /** `unstable`: red with the mutant, and red without it, too. */
  | { readonly kind: 'killed' | 'unstable'; readonly by: string };

export type RunTests = (selection: Selection, isMutated: boolean) => Promise<TestRun>;

/**
 * Returns whether the tests detect the mutant; runs batches until the first failure. A busy machine also fails tests: a mutant counts as
 * killed only if a failed test passes right afterwards without the mutant.
 */
export async function verdictOf(batches: readonly Selection[], run: RunTests): Promise<Verdict> {
  for (const batch of batches) {
    const { isGreen, failed } = await run(batch, true);
    if (isGreen) continue;
    const files = [...new Set(failed.map(({ file }) => file))];
    const [first] = failed;
    if (!first) {
      const without = await run(batch, false);
      return { kind: without.isGreen ? 'killed' : 'unstable', by: 'time limit, or no report' };
    }
    const { passed } = await run({ ...batch, files }, false);
    const killer = failed.find((test) => passed.some((other) => isSame(test, other)));
    const { file, name } = killer ?? first;
    return { kind: killer ? 'killed' : 'unstable', by: `${file} ${name}`.trim() };
  }
  return { kind: 'survived' };
}

function isSame(a: TestId, b: TestId): boolean {
  return a.file === b.file && a.name === b.name;
}
