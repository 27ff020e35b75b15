import { expect, it } from 'vitest';
import { diagramOf, reduced, withDiagram } from './import-diagram.ts';

function graphOf(edges: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(edges).map(([folder, imported]) => [folder, new Set(imported)]));
}

it('the diagram leaves out an import that follows from others', () => {
  const graph = graphOf({
    'main.ts': ['cli', 'api'],
    cli: ['my-kube', 'api'],
    'my-kube': ['api'],
    api: [],
  });
  expect(diagramOf(graph)).toBe(
    'flowchart TD\n  cli --> my_kube["my-kube"]\n  main["main.ts"] --> cli\n  my_kube["my-kube"] --> api\n',
  );
});

it('an import circle is an error that names its folders', () => {
  const graph = graphOf({ main: ['a'], a: ['b'], b: ['c'], c: ['a'] });
  expect(() => reduced(graph)).toThrow('import circle: a → b → c → a');
});

it('withDiagram replaces what stands between the marks, and nothing else', () => {
  const marks = ['<!-- imports: written by `npm run generate` -->', '<!-- end of imports -->'];
  const [page, graph] = [`# A\n${marks.join('\nold\n')}\nend\n`, graphOf({ a: ['b'], b: [] })];
  const drawn = withDiagram(page, graph);
  expect(drawn).toBe(`# A\n${marks.join('\n```mermaid\nflowchart TD\n  a --> b\n```\n')}\nend\n`);
  expect(withDiagram(drawn, graph)).toBe(drawn);
  expect(() => withDiagram('# A\n', graph)).toThrow('the page has no <!-- imports');
});
