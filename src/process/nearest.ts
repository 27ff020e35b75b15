/** Returns the candidate with the fewest edits from `word`; undefined when none is closer than half of the word's length. */
function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = word.length / 2;
  for (const candidate of candidates) {
    const edits = editsBetween(word, candidate);
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** Returns the end of an error message, `; did you mean X?`; empty when no candidate is near. */
export function suggestionFor(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? '' : `; did you mean \`${candidate}\`?`;
}

/**
 * Returns why a word is not in a closed list, in any case, with the nearest candidate; undefined: the list has the word.
 */
export function unknownWord(
  field: string,
  word: string,
  candidates: readonly string[],
): string | undefined {
  const isKnown = candidates.some((each) => each.toLowerCase() === word.toLowerCase());
  return isKnown ? undefined : `${field} "${word}" is unknown${suggestionFor(word, candidates)}`;
}

/** Levenshtein distance: letters to insert, delete or replace. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
