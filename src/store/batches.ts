/** Rows in one statement: a thousand nodes are some hundreds of statements, and none is larger than a server takes. */
const rowsAtOnce = 25;

export function batches<T>(items: readonly T[], size = rowsAtOnce): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, n) => items.slice(n * size, (n + 1) * size));
}
