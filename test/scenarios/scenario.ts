/** Whose doing it is that a scenario does not happen any more. */
export type Part = 'agent' | 'controller' | 'operator' | 'viola' | 'inventory' | 'delivery';

/** A test: its file, and its title below those of the groups around it, as in the source. */
export interface Proof {
  readonly file: string;
  readonly title: string;
}

export function proof(file: string, title: string): Proof {
  return { file, title };
}

/** Something that went wrong in the field with systems like this one, or that would have. */
interface Happened {
  readonly id: `RW-${string}`;
  /** What happened. */
  readonly field: string;
}

export interface Proven extends Happened {
  readonly by: Part;
  /** What holds instead. */
  readonly holds: string;
  readonly proofs: readonly Proof[];
}

export interface OutOfScope extends Happened {
  /** Why nothing here is about it. */
  readonly outOfScope: string;
}

export type Scenario = Proven | OutOfScope;

/** Parts of a title: its own and those of the groups around it. */
export function partsOf(title: string): string[] {
  return title.split(' > ');
}

/**
 * What the whole names of the tests with this title look like: `%s` and `$name` stand for what a row of `each` has. Vitest
 * puts ` > ` between the parts when it chooses tests, and a space when it reports them.
 */
export function namePattern(title: string): string {
  const plain = partsOf(title).map((part) =>
    part
      .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
      .replaceAll(/%[a-z]|\\\$[a-z][\w.\\]*/gi, '.*'),
  );
  return `^${plain.join(' (?:> )?')}$`;
}
