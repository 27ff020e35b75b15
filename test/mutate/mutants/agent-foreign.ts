import type { Mutant } from '../mutant.ts';

const compared = ['unit', 'src/agent/planning/foreign.test.ts'] as const;
const onHost = ['namespaces', 'test/namespaces/foreign-state.test.ts'] as const;

/** What becomes of what others have on a host. */
export const agentForeignMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'else counts.set(item.what, left - 1);',
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'if (opaque || temporary || scope',
    replace: 'if (opaque || scope',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: '(links.length !== 1 || ',
    replace: '(links.length < 9 || ',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'return this.#ours.get(name)?.mac ?? name;',
    replace: 'return name;',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'return file?.text !== text || file.mode !== mode;',
    replace: 'return file?.text !== text;',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'has.routes()',
    replace: 'has.routes(has)',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'isConnected(route) && made',
    replace: 'made',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'of gatewaysLast(this.#kernel.routes)',
    replace: 'of this.#kernel.routes',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/foreign.ts',
    find: 'const ours = withThese(nics, before.ours);',
    replace: 'const ours = nics;',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/foreign.ts',
    find: '[...untouchable, ...inUse]',
    replace: '[]',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: '{ nics: free, paths: pathsOf(journals) }',
    replace: '{ nics: [], paths: pathsOf(journals) }',
    tests: onHost,
  },
  {
    file: 'src/agent/configure.ts',
    find: '...recovered.foreignStateLost, ',
    replace: '',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/foreign.ts',
    find: 'if (changes.size === 0) return undefined;',
    replace: 'return undefined;',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: '...(last && !undone ? { seen: last } : {})',
    replace: '...(last ? { seen: last } : {})',
    tests: onHost,
  },
  {
    file: 'src/agent/configure.ts',
    find: 'isToChange(plan) ? othersOn(host, now.state, context) : undefined',
    replace: 'undefined',
    tests: onHost,
  },
  {
    file: 'src/agent/result.ts',
    find: 'foreignStateLost.slice(0, maxLosses)',
    replace: 'foreignStateLost',
    tests: ['unit', 'src/agent/result.test.ts'],
  },
  {
    file: 'src/controller/report.ts',
    find: 'if (lost > 0) ',
    replace: 'if (lost < 0) ',
    tests: ['unit', 'src/controller/report.test.ts'],
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'isOn(one.link) && ',
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'return isLinkLocal(address) || ips',
    replace: 'return ips',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'links.some(isOn) || ',
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: ' || (src !== undefined && belongings.ips.includes(src))',
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: 'opaque: route.opaque || taken.has(placeOf(route)),',
    replace: '',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: '.filter(({ link, cidr }) => !there.has(`${link} ${cidr}`))',
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/planning/foreign.ts',
    find: ".filter((route) => !present.has(routeWords(route, route.links.join(' '))))",
    replace: '',
    tests: compared,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'journals.filter(({ bootId }) => bootId === run.bootId)',
    replace: 'journals',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'name === before.link?.name ? now : name',
    replace: 'name',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/memory.ts',
    find: 'routes: routes.slice(0, maxEntrusted),',
    replace: 'routes: [],',
    tests: onHost,
  },
];
