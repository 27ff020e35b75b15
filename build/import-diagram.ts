import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Imports between the folders of `src`, by importer; a file directly in `src` counts as a folder of its own name. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the imports of all sources below `root`/src, type imports included, tests excluded. */
export function readImports(root: string): ImportGraph {
  const graph = new Map<string, Set<string>>();
  for (const path of globSync('src/**/*.ts', { cwd: root }).toSorted()) {
    if (isForTests(path)) continue;
    const importer = folderOf(path);
    const imported = graph.get(importer) ?? new Set<string>();
    graph.set(importer, imported);
    for (const target of importsIn(readFileSync(join(root, path), 'utf8'))) {
      const folder = folderOf(normalize(join(dirname(path), target)));
      if (folder !== importer) imported.add(folder);
    }
  }
  return graph;
}

/** Sources that only tests load: their imports say nothing about the product. */
function isForTests(path: string): boolean {
  return /\.test\.ts$|\/testing\/|-in-test\.ts$|\/fake-|\/test-/.test(path);
}

function importsIn(source: string): string[] {
  const matches = source.matchAll(/(?:\bfrom|\bimport\() ?'(\.[^']+)'/g);
  return [...matches].map(([, target = '']) => target);
}

function folderOf(path: string): string {
  const [, folder = ''] = path.split('/');
  return folder;
}

/**
 * Returns the graph without the edges that follow from others: `a → c` goes where `a → b → c` exists. Throws if folders import
 * each other in a circle, because no picture of layers exists then.
 */
export function reduced(graph: ImportGraph): ImportGraph {
  const below = new Map<string, ReadonlySet<string>>();
  for (const folder of graph.keys()) collectBelow(folder, graph, below, []);
  return new Map(
    [...graph].map(([folder, imported]) => {
      const implied = new Set([...imported].flatMap((each) => [...(below.get(each) ?? [])]));
      return [folder, new Set([...imported].filter((each) => !implied.has(each)))] as const;
    }),
  );
}

/** Sets in `below` all folders that `folder` reaches by imports. */
function collectBelow(
  folder: string,
  graph: ImportGraph,
  below: Map<string, ReadonlySet<string>>,
  path: readonly string[],
): ReadonlySet<string> {
  if (path.includes(folder)) {
    throw new Error(`import circle: ${[...path.slice(path.indexOf(folder)), folder].join(' → ')}`);
  }
  const known = below.get(folder);
  if (known !== undefined) return known;
  const reached = new Set<string>();
  for (const imported of graph.get(folder) ?? []) {
    reached.add(imported);
    for (const further of collectBelow(imported, graph, below, [...path, folder])) {
      reached.add(further);
    }
  }
  below.set(folder, reached);
  return reached;
}

/** Returns the graph as a Mermaid flowchart, one line per importer. */
export function diagramOf(graph: ImportGraph): string {
  const lines = [...reduced(graph)]
    .filter(([, imported]) => imported.size > 0)
    .map(
      ([folder, imported]) => `  ${nodeOf(folder)} --> ${[...imported].map(nodeOf).join(' & ')}`,
    );
  return `flowchart TD\n${lines.toSorted().join('\n')}\n`;
}

function nodeOf(folder: string): string {
  const id = folder.replace(/\.ts$/, '').replaceAll('-', '_');
  return id === folder ? id : `${id}["${folder}"]`;
}

const start = '<!-- imports: written by `npm run generate` -->\n';
const end = '<!-- end of imports -->\n';

/** Returns a page with the diagram between its two marks. Throws if the page has none. */
export function withDiagram(page: string, graph: ImportGraph): string {
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no ${start.trim()} … ${end.trim()}`);
  const diagram = `\`\`\`mermaid\n${diagramOf(graph)}\`\`\`\n`;
  return page.slice(0, from + start.length) + diagram + page.slice(to);
}
