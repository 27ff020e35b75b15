import { beforeEach, describe, expect, it } from 'vitest';
import { type ScriptsSite, withoutPods } from './scripts-site.ts';

const kind = 'openstackconfigs.multinic.example.com';
const held = ['-n', 'multinic-system', kind, 'held'];
const config = {
  apiVersion: 'multinic.example.com/v1alpha1',
  kind: 'OpenstackConfig',
  metadata: {
    name: 'held',
    namespace: 'multinic-system',
    finalizers: ['multinic.example.com/cleanup'],
  },
  spec: { credentials: {} },
};

async function expectClean(
  site: ScriptsSite,
  args: readonly string[],
  kubectl: string,
): Promise<void> {
  const all = [...args, '--crds', '--yes', '--timeout', '60'];
  const { code, output } = await site.run('cleanup-operator.sh', all, { kubectl });
  expect(code, output).toBe(0);
  expect(await site.value('{.metadata.name}', 'crd', kind)).toBe('');
}

const letGo = `patch ${held.join(' ')} --type=merge -p '{"metadata":{"finalizers":null}}'`;

const untilGone = `real wait --for=delete crd/${kind} --timeout=60s >&2`;

/** cleanup-operator.sh when the definition goes before its last object. */
export function definitionsFirstTests(given: () => ScriptsSite): void {
  describe('cleanup-operator.sh without the definition', () => {
    // The CRD then waits for the last object, and disappears in the middle of the script.
    beforeEach(async () => {
      const site = given();
      const { code, output } = await site.run('deploy-operator.sh', withoutPods);
      expect(code, output).toBe(0);
      await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(config));
      await site.cluster.kubectl(['delete', 'crd', kind, '--wait=false']);
    });

    it('a definition that was deleted before goes with the finalizers', async () => {
      await expectClean(given(), [], `[[ "$*" != *"delete crd"* ]] || ${untilGone}`);
    });

    it('an object that goes between list and patch is gone', async () => {
      await expectClean(given(), [], `[[ "$*" != *"patch "* ]] || real ${letGo} >&2`);
    });

    it('a definition that goes between two reads is gone with its objects', async () => {
      const marker = '"$(dirname "$0")/patched"';
      const patch = `[[ "$*" != *"patch "* ]] || { touch ${marker}; exit 1; }`;
      const read = `[[ "$*" != *"get crd"* || ! -e ${marker} ]] || { real "$@"; real ${letGo} >&2; ${untilGone}; exit 0; }`;
      await expectClean(given(), [], `${patch}\n${read}`);
    });

    it('NICs are off their hosts when the kind went with the last object', async () => {
      const running = '[[ "$*" != *"wait deployment"* ]] || exit 0';
      const operator = `[[ "$*" != *"delete ${kind}"* ]] || { real "$@" && real ${letGo} && ${untilGone} && exit 0; } >&2`;
      await expectClean(given(), ['--nics', 'remove'], `${running}\n${operator}`);
    });
  });
}
