/** Rows per statement: 1,000 nodes need only some hundred statements, each small enough for every server. */
const rowsAtOnce = 25;

export function batches<T>(items: readonly T[], size = rowsAtOnce): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, n) => items.slice(n * size, (n + 1) * size));
}
