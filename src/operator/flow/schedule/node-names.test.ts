import { expect, it } from 'vitest';
import { nodeNamesIn } from './sync-scope.ts';

type Synced = Parameters<typeof nodeNamesIn>[0];
const node = (nodeName: string, instanceId: string, waiting = false) =>
  ({ nodeName, instanceId, waiting }) as Synced['nodes'][number];
const well: Synced = {
  nodes: [node('n1', 's1'), node('n2', 's2')],
  problems: [],
  isOutage: false,
  unreadable: [],
};
const conflict = (subject: string) => {
  const problem = { reason: 'NameConflict', message: '', subject } as const;
  return problem;
};

it.each<[string, Partial<Synced>, string[] | undefined]>([
  ['all without problems', {}, ['s1', 's2']],
  ['none while a service fails', { isOutage: true }, undefined],
  ['no server whose node waits', { nodes: [node('n1', 's1', true), node('n2', 's2')] }, ['s2']],
  ['no server of two nodes', { nodes: [node('n1', 's1'), node('n2', 's1')] }, []],
  ['no node claimed by two configs', { problems: [conflict('node n1')] }, ['s2']],
  ['no server with a problem', { problems: [conflict('server s1')] }, ['s2']],
  ['no object that cannot be read', { unreadable: ['n1'] }, ['s2']],
])('nodeNamesIn returns servers for partial syncs: %s', (_what, change, servers) => {
  const names = nodeNamesIn({ ...well, ...change });
  expect(names && [...names.keys()]).toEqual(servers);
});
