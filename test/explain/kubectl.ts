import { expect } from 'vitest';
import * as z from 'zod';
import { openstackConfigs, resourceQuotas } from '../../rig/chain/kinds.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { nodes } from '../../src/kube/core-resources.ts';
import type { World } from '../fixtures/chain/world.ts';

interface Call {
  /** Client for the command's context. */
  readonly client: KubeClient;
  readonly namespace: string;
  /** Words after verb and kind. */
  readonly words: readonly string[];
}

/**
 * Runs kubectl's commands from next steps: a machine without control plane has no kubectl. The contract suite proves JSON
 * patches; MultiNIC's client sends merge patches only.
 */
export async function kubectl(world: World, words: readonly string[]): Promise<void> {
  const inBusiness = words[0] === '--context' && words[1] === 'business';
  const { client } = inBusiness ? world.business : world.management;
  const plain = inBusiness ? words.slice(2) : words;
  const [namespace = '', ...rest] = plain[0] === '-n' ? plain.slice(1) : ['', ...plain];
  const run = calls[rest.slice(0, 2).join(' ')];
  if (!run) throw new Error(`kubectl ${words.join(' ')} is no next step`);
  await run({ client, namespace, words: rest.slice(2) });
}

const calls: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  async 'get nodes'({ client }) {
    expect((await client.list(nodes)).items).not.toEqual([]);
  },
  async 'get resourcequota'({ client, namespace }) {
    expect((await client.list(resourceQuotas, { namespace })).items).not.toEqual([]);
  },
  async 'annotate osc'({ client, namespace, words: [name = '', annotation = '', ...more] }) {
    expect([annotation.at(-1), more]).toEqual(['-', []]);
    const metadata = { annotations: { [annotation.slice(0, -1)]: null } };
    await client.patch(openstackConfigs, { namespace, name }, { metadata });
  },
  async 'patch osc'({ client, namespace, words: [name = '', typeFlag, type, flag, patch = ''] }) {
    expect([typeFlag, flag]).toEqual(['--type', '-p']);
    const ref = { namespace, name };
    const { spec } = await client.get(openstackConfigs, ref);
    const change: unknown = type === 'json' ? mergePatchOf(spec, patch) : JSON.parse(patch);
    await client.patch(openstackConfigs, ref, change);
  },
};

const appendToList = z.tuple([
  z.strictObject({
    op: z.literal('add'),
    path: z.templateLiteral(['/spec/', z.string(), '/-']),
    value: z.string(),
  }),
]);

/** Converts a JSON patch with an append to a list in the spec. */
function mergePatchOf(spec: object, text: string): unknown {
  const [{ path, value }] = appendToList.parse(JSON.parse(text));
  const field = path.slice('/spec/'.length, -'/-'.length);
  const list = z.record(z.string(), z.unknown()).parse(spec)[field];
  return { spec: { [field]: [...z.array(z.string()).parse(list), value] } };
}
