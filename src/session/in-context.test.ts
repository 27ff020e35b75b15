import { expect, it } from 'vitest';
import { allowRemovals } from '../explain/commands.ts';
import { same } from '../explain/wording.ts';
import { Failure } from './access/failure.ts';
import { Unread } from './access/unread.ts';
import { commandInContext, errorInContext, inContext, sourcesInContext } from './in-context.ts';

const choice = {
  kubeconfig: '/k/my config',
  context: 'prod',
  businessContext: new Map([['biz-1', 'prod-biz-1']]),
};
const config = `--kubeconfig '/k/my config'`;

it.each([
  ['kubectl -n a patch osc b', `kubectl ${config} --context prod -n a patch osc b`],
  [allowRemovals('a/b'), `kubectl multinic allow-removals a/b ${config} --context prod`],
  ['kubectl multinic sync a/b', `kubectl multinic sync a/b ${config} --context prod`],
  ['kubectl get nodes', `kubectl ${config} --context prod-biz-1 get nodes`],
  [
    'kubectl multinic register-cluster biz-2',
    "kubectl multinic register-cluster biz-2 --management-kubeconfig '/k/my config' --management-context prod",
  ],
  ['openstack port show x', 'openstack port show x'],
])("command %s names the user's kubeconfig and context", (command, expected) => {
  const next = { text: same(''), commands: [command], preview: [command] };
  const { commands, preview } = inContext(next, choice, 'biz-1');
  expect([commands, preview]).toEqual([[expected], [expected]]);
  const none = { businessContext: new Map<string, string>() };
  expect(inContext(next, none, 'biz-1')).toEqual(next);
});

it("a business cluster's own kubeconfig replaces the one for the management cluster", () => {
  const next = { text: same(''), commands: ['kubectl get nodes'], preview: [] };
  const own = { ...choice, businessKubeconfig: new Map([['biz-2', '/k/biz-2']]) };
  const { commands } = inContext(next, own, 'biz-2');
  expect(commands).toEqual(['kubectl --kubeconfig /k/biz-2 get nodes']);
});

const remote = {
  context: 'prod',
  operatorNamespace: 'ops',
  inventory: 'https://inventory',
  tokenFile: '/t',
  businessContext: new Map([['biz-1', 'b']]),
  businessKubeconfig: new Map([['biz-1', '/k/b']]),
};
const api = '--context prod --operator-namespace ops --inventory https://inventory --token-file /t';
const business = '--business-context biz-1=b --business-kubeconfig biz-1=/k/b';

it.each([
  ['kubectl multinic why a/b', `kubectl multinic why a/b ${api} ${business}`],
  ['kubectl multinic sync a/b', `kubectl multinic sync a/b ${api}`],
  ['with: kubectl multinic doctor; then', `with: kubectl multinic doctor ${api} ${business}; then`],
  [
    'run kubectl multinic register-cluster.',
    'run kubectl multinic register-cluster --management-context prod.',
  ],
  [
    'run: kubectl -n a create rolebinding x',
    'run: kubectl --context prod -n a create rolebinding x',
  ],
  [
    'run: kubectl create clusterrolebinding x',
    'run: kubectl --context prod create clusterrolebinding x',
  ],
])('the next step "%s" of an error or an unread source keeps the access options', (text, shown) => {
  const step = { en: text, ko: text };
  const complete = { en: shown, ko: shown };
  const source = { source: 'operator', place: 'x', why: step, next: [step] } as const;
  expect(sourcesInContext([source], remote)).toEqual([{ ...source, next: [complete] }]);
  expect(errorInContext(new Unread(step, step), remote)).toEqual(new Unread(step, complete));
  const completed = errorInContext(new Failure('why', text), remote);
  expect(completed).toMatchObject({ name: 'Failure', message: 'why', next: shown });
});

it('a command for the management cluster names its context', () => {
  const command = 'kubectl -n home describe pod operator-1';
  expect(commandInContext(command, choice)).toBe(
    `kubectl ${config} --context prod -n home describe pod operator-1`,
  );
});
