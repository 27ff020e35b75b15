import { type ESTree, parseSync } from 'vite';

/** A defect: `text` replaces the source of `file` from offset `start` to `end`. */
export interface Mutant {
  readonly file: string;
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Edit = Pick<Mutant, 'start' | 'end' | 'text'>;
type Node = ESTree.Node;

/** Returns the edit for this node; undefined: the operator does not apply. */
type Operator = (node: Node, parent: Node, source: string) => Edit | undefined;

const swapped = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
]);

const branches = new Set([
  'IfStatement',
  'ConditionalExpression',
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
]);

/** Returns the condition of a branching node. */
function conditionOf(node: Node): Node | undefined {
  return branches.has(node.type) && 'test' in node && isNode(node.test) ? node.test : undefined;
}

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** True for `log.info(…)` and `schema.describe(…)`: their arguments change texts only. */
function isText(node: Node): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property } = node.callee;
  const method = nameOf(property);
  if (method === 'describe') return true;
  const receiver = object.type === 'MemberExpression' ? object.property : object;
  return levels.has(method) && /^log(ger)?$/i.test(nameOf(receiver));
}

function nameOf(node: Node): string {
  return node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? node.name : '';
}

function calledIn(statement: ESTree.ExpressionStatement): Node | undefined {
  let { expression }: { expression: Node } = statement;
  if (expression.type === 'UnaryExpression' && expression.operator === 'void') {
    expression = expression.argument;
  }
  if (expression.type === 'AwaitExpression') expression = expression.argument;
  if (expression.type === 'ChainExpression') ({ expression } = expression);
  return expression.type === 'CallExpression' ? expression : undefined;
}

const operators: Readonly<Record<string, Operator>> = {
  'negated condition': (node, _, source) => {
    const test = conditionOf(node);
    return test && { ...spanOf(test), text: `!(${source.slice(test.start, test.end)})` };
  },
  'removed call': (node) => {
    const call = node.type === 'ExpressionStatement' ? calledIn(node) : undefined;
    // Without super() no constructor works: every test that makes the object notices.
    const isNeeded = call?.type === 'CallExpression' && call.callee.type === 'Super';
    return call && !isText(call) && !isNeeded ? { ...spanOf(node), text: ';' } : undefined;
  },
  'swapped comparison': (node, parent, source) => {
    if (node.type !== 'BinaryExpression') return undefined;
    const other = swapped.get(node.operator);
    // The negated condition is the same defect.
    const isNegation = /^[!=]/.test(node.operator) && conditionOf(parent) === node;
    if (other === undefined || isNegation) return undefined;
    const start = source.indexOf(node.operator, node.left.end);
    return { start, end: start + node.operator.length, text: other };
  },
  'off by one': (node, parent) => {
    if (node.type !== 'Literal' || typeof node.value !== 'number') return undefined;
    // Round thousands are durations and sizes: adding one makes no difference.
    const isRound = node.value !== 0 && node.value % 1000 === 0;
    const isKey = parent.type === 'Property' && parent.key === node;
    return isRound || isKey ? undefined : { ...spanOf(node), text: String(node.value + 1) };
  },
  'dropped await': (node, _, source) => {
    if (node.type !== 'AwaitExpression') return undefined;
    return { ...spanOf(node), text: source.slice(node.argument.start, node.argument.end) };
  },
};

function spanOf({ start, end }: Node): Pick<Mutant, 'start' | 'end'> {
  return { start, end };
}

/** Returns child nodes with runtime code; types have none. */
function childrenOf(node: Node): Node[] {
  if (isText(node) && node.type === 'CallExpression') return [node.callee];
  const children = Object.values(node).flat().filter(isNode);
  return children.flatMap((child) => {
    if (!child.type.startsWith('TS')) return [child];
    // `x as T`, `x satisfies T` and `x!` are x.
    return 'expression' in child && isNode(child.expression) ? [child.expression] : [];
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Returns all mutants for a TypeScript file. */
export function mutantsIn(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const mutants: Mutant[] = [];
  const visit = (node: Node, parent: Node): void => {
    for (const [operator, edit] of Object.entries(operators)) {
      const found = edit(node, parent, source);
      if (found) mutants.push({ file, operator, ...found });
    }
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(program, program);
  return mutants.toSorted((a, b) => a.start - b.start);
}

/** Returns the source with the defect. */
export function mutated(source: string, { start, end, text }: Mutant): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** Returns `FILE:LINE`, and the first changed line before and after. */
export function placeOf(source: string, mutant: Mutant): readonly [string, string, string] {
  const line = source.slice(0, mutant.start).split('\n').length;
  const textAt = (text: string) => text.split('\n')[line - 1]?.trim() ?? '';
  return [`${mutant.file}:${line}`, textAt(source), textAt(mutated(source, mutant))];
}
