import { expect, it } from 'vitest';
import { allowRemovals } from '../../explain/commands.ts';
import { same } from '../../explain/wording.ts';
import { inContext } from './in-context.ts';

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
  ['kubectl multinic register-cluster biz-2', 'kubectl multinic register-cluster biz-2'],
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
