import { expect, it } from 'vitest';
import {
  diagramOf,
  importsWithin,
  layersOf,
  reduced,
  refuseCircles,
  withGenerated,
} from './import-diagram.ts';

function graphOf(edges: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(edges).map(([folder, imported]) => [folder, new Set(imported)]));
}

it('the diagram leaves out implied imports', () => {
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

it('an import circle is an error with the names of its folders', () => {
  const graph = graphOf({ main: ['a'], a: ['b'], b: ['c'], c: ['a'] });
  expect(() => reduced(graph)).toThrow('import circle: a → b → c → a');
});

const files = new Map([
  ['src/main.ts', ['src/part/run.ts']],
  ['src/part/run.ts', ['src/part/plan/plan.ts', 'src/kube/client.ts']],
  ['src/part/plan/plan.ts', ['src/part/read/read.ts']],
  ['src/part/plan/size.ts', []],
  ['src/part/read/read.ts', []],
  ['src/kube/client.ts', []],
]);

it('layers go from the starting file down to files without imports', () => {
  const within = importsWithin('src/part', files);
  expect(layersOf(within)).toEqual([['run.ts'], ['plan'], ['read']]);
  expect(layersOf(importsWithin('src', files))).toEqual([['main.ts'], ['part'], ['kube']]);
});

it('circular imports between folders are refused at any depth, also without circular files', () => {
  expect(() => refuseCircles(files)).not.toThrow();
  const tied = new Map([...files, ['src/part/read/all.ts', ['src/part/plan/size.ts']]]);
  expect(() => refuseCircles(tied)).toThrow('src/part: import circle: plan → read → plan');
});

it('withGenerated replaces only the text between the marks', () => {
  const marks = ['<!-- imports: written by `npm run generate` -->', '<!-- end of imports -->'];
  const page = `# A\n${marks.join('\nold\n')}\nend\n`;
  const drawn = withGenerated(page, 'imports', 'new\n');
  expect(drawn).toBe(`# A\n${marks.join('\nnew\n')}\nend\n`);
  expect(withGenerated(drawn, 'imports', 'new\n')).toBe(drawn);
  expect(() => withGenerated('# A\n', 'imports', 'new\n')).toThrow('the page has no <!-- imports');
});
