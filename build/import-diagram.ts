import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Imports between files by importer, as paths below the root: type and dynamic imports included, tests excluded. */
export type FileImports = ReadonlyMap<string, readonly string[]>;

/** Imports between the children of a folder, by importer: folders, and files directly in the folder. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads all imports below `root`/src. */
export function readImports(root: string): FileImports {
  const paths = globSync('src/**/*.{ts,tsx}', { cwd: root }).toSorted();
  return new Map(
    paths
      .filter((path) => !isForTests(path))
      .map((path) => {
        const targets = importsIn(readFileSync(join(root, path), 'utf8'));
        return [path, targets.map((target) => normalize(join(dirname(path), target)))];
      }),
  );
}

/** Returns the imports between the children of `folder`. */
export function importsWithin(folder: string, files: FileImports): ImportGraph {
  const graph = new Map<string, Set<string>>();
  for (const [path, targets] of files) {
    const importer = childOf(folder, path);
    if (importer === undefined) continue;
    const imported = graph.get(importer) ?? new Set<string>();
    graph.set(importer, imported);
    for (const target of targets) {
      const child = childOf(folder, target);
      if (child !== undefined && child !== importer) imported.add(child);
    }
  }
  return graph;
}

/** Returns the folder's child with the file; undefined: the file is elsewhere. */
function childOf(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined;
}

/** Throws if a folder below `src` has children with circular imports. */
export function refuseCircles(files: FileImports): void {
  const folders = new Set([...files.keys()].flatMap(foldersAbove));
  for (const folder of folders) {
    try {
      reduced(importsWithin(folder, files));
    } catch (error) {
      throw new Error(`${folder}: ${(error as Error).message}`, { cause: error });
    }
  }
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Returns true for test sources: their imports say nothing about the product. */
function isForTests(path: string): boolean {
  return /\.test\.tsx?$|\/testing\/|-in-test\.ts$|\/fake-|\/test-/.test(path);
}

function importsIn(source: string): string[] {
  const matches = source.matchAll(/(?:\bfrom|\bimport\() ?'(\.[^']+)'/g);
  return [...matches].map(([, target = '']) => target);
}

/**
 * Returns the graph without the edges that follow from others: `a → c` goes where `a → b → c` exists. Throws for circular imports,
 * because no picture of layers exists then.
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

/** Sets in `below` all folders reached from `folder` by imports. */
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

/** Returns the children from the top to the bottom layer; a child only imports children of lower layers. */
export function layersOf(graph: ImportGraph): string[][] {
  const heights = new Map<string, number>();
  const heightOf = (child: string): number => {
    const known = heights.get(child);
    if (known !== undefined) return known;
    const height = 1 + Math.max(-1, ...[...(graph.get(child) ?? [])].map(heightOf));
    heights.set(child, height);
    return height;
  };
  const byHeight = Map.groupBy([...graph.keys()].toSorted(), heightOf);
  return [...byHeight].toSorted(([a], [b]) => b - a).map(([, children]) => children);
}

/** Returns a table with the layers of these folders of `src`, top first. */
function layerTable(parts: readonly string[], files: FileImports): string {
  const rows = parts.map((part) => {
    const layers = layersOf(importsWithin(`src/${part}`, files));
    const text = layers.map((children) => children.map((child) => `\`${child}\``).join(' '));
    return `| \`${part}\` | ${text.join(' → ')} |\n`;
  });
  return `| | → |\n| --- | --- |\n${rows.join('')}`;
}

/** Returns a page with a generated text between the two marks of its name. Throws if the page has none. */
export function withGenerated(page: string, name: string, text: string): string {
  const start = `<!-- ${name}: written by \`npm run generate\` -->\n`;
  const [from, to] = [page.indexOf(start), page.indexOf(`<!-- end of ${name} -->\n`)];
  if (from === -1 || to < from) throw new Error(`the page has no ${start.trim()} … end of ${name}`);
  return page.slice(0, from + start.length) + text + page.slice(to);
}

/** Returns the page about the architecture with its diagram and its table of layers. */
export function withImports(page: string, files: FileImports): string {
  refuseCircles(files);
  const diagram = `\`\`\`mermaid\n${diagramOf(importsWithin('src', files))}\`\`\`\n`;
  return withGenerated(
    withGenerated(page, 'imports', diagram),
    'layers',
    layerTable(layered, files),
  );
}

/** Parts with folders of their own. */
const layered = [
  'operator',
  'controller',
  'lifecycle',
  'viola',
  'agent',
  'cli',
  'session',
  'dashboard',
  'explain',
];
