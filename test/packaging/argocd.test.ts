import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { bizConfigStatus } from '../../src/api/multinicbizconfig.ts';
import { nodeConfigStatus } from '../../src/api/multinicnodeconfig.ts';
import { multiNicOperatorStatus } from '../../src/api/multinicoperator.ts';
import { openstackConfigStatus } from '../../src/api/openstackconfig.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

interface Recorded {
  readonly apiVersion: string;
  readonly kind: keyof typeof schemas;
  readonly metadata: object;
  readonly status?: object;
}

const schemas = {
  OpenstackConfig: openstackConfigStatus,
  MultiNicOperator: multiNicOperatorStatus,
  MultiNicNodeConfig: nodeConfigStatus,
  MultiNicBizConfig: bizConfigStatus,
};

/** Scripts by key of Argo CD's ConfigMap. */
let scripts: Readonly<Record<string, string>>;
let recorded: Readonly<Record<string, Recorded>>;

beforeAll(async () => {
  const text = await readFile(join(root, 'deploy/argocd/health.yaml'), 'utf8');
  scripts = (parse(text) as { data: Record<string, string> }).data;
  const objects = await readFile(join(import.meta.dirname, 'argocd/recorded.yaml'), 'utf8');
  recorded = parse(objects) as typeof recorded;
});

const keyOf = (group: string, kind: string) => `resource.customizations.health.${group}_${kind}`;

/** Returns a JSON value as a Lua expression. A number in Argo CD is a Lua number, too. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(',')}}`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return `{${entries.map(([key, each]) => `[${luaOf(key)}]=${luaOf(each)}`).join(',')}}`;
  }
  if (typeof value !== 'string') return value === null ? 'nil' : JSON.stringify(value);
  const bytes = [...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`);
  return `"${bytes.join('')}"`;
}

/** Opens what Argo CD opens: base, package and table; of `os` only dates, which the scripts do not need. */
const sandbox = `local print = print
getmetatable("").__index = nil
for _, name in ipairs({ "coroutine", "debug", "io", "math", "os", "string" }) do _G[name] = nil end`;

/** Runs the script of an object's kind as Argo CD does: the object is the global obj, the result a table. */
async function healthOf(object: Recorded): Promise<string> {
  const [group = ''] = object.apiVersion.split('/');
  const script = scripts[keyOf(group, object.kind)];
  const program = `${sandbox}
obj = ${luaOf(object)}
local hs = (function()
${script}
end)()
print(hs.status .. " " .. hs.message)`;
  const { stdout } = await run(join(root, 'rig/unpacked/unpacked'), [
    'run',
    'lua5.1',
    '-e',
    program,
  ]);
  return stdout.trimEnd();
}

it('each kind has a script', () => {
  const kinds = Object.values(crdDefinitions()).map(({ spec }) =>
    keyOf(spec.group, spec.names.kind),
  );
  expect(Object.keys(scripts).toSorted()).toEqual(kinds.toSorted());
});

it.each([
  ['OpenstackConfig configured', /^Healthy NICsConfigured: the planned NIC is configured$/],
  ['OpenstackConfig with a node in progress', /^Progressing NICsNotConfigured: 1 of 2 /],
  ['OpenstackConfig with a failed node', /^Degraded NICsNotConfigured: 1 of 2 /],
  ['OpenstackConfig without ports', /^Healthy NoPorts: /],
  ['OpenstackConfig with a locked account', /^Degraded KeystoneError: .* account is locked$/],
  ['OpenstackConfig paused', /^Suspended Paused: the annotation multinic.io\/paused is true/],
  ['OpenstackConfig of a manual sync', /^Suspended WaitingForTrigger: /],
  ['MultiNicNodeConfig configured', /^Healthy AllInterfacesConfigured: /],
  ['MultiNicNodeConfig edited', /^Progressing no status for this generation/],
  ['MultiNicNodeConfig with a running agent', /^Progressing SpecChanged: an agent is running/],
  ['MultiNicNodeConfig with a failed NIC', /^Degraded NICInUse: /],
  ['MultiNicNodeConfig of a stopped rollout', /^Degraded RolloutStopped: /],
  ['MultiNicNodeConfig drifted', /^Degraded Drifted: multinic0: an apply would: /],
  ['MultiNicNodeConfig paused', /^Suspended Paused: /],
  ['OpenstackConfig in mode Observe', /^Suspended Observed: observe only: nodes are checked/],
  ['MultiNicNodeConfig in mode Observe', /^Suspended Observed: observe only: 0 of 1 NIC/],
  ['MultiNicBizConfig read-only', /^Suspended ReadOnly: /],
  ['MultiNicBizConfig with a held removal', /^Degraded RemovalHeld: /],
  ['MultiNicOperator running', /^Healthy AllComponentsReady: /],
  ['MultiNicOperator starting', /^Progressing ComponentsNotReady: /],
  ['MultiNicOperator that lost a replica', /^Degraded ComponentsNotReady: /],
  ['MultiNicOperator with an invalid field', /^Degraded InvalidSpec: spec.controller.replicas -1 /],
])('Argo CD shows the health of a %s', async (name, health) => {
  const object = recorded[name];
  if (!object) throw new Error(`recorded.yaml has no "${name}"`);
  // A record that the schema no longer knows would prove nothing.
  expect(schemas[object.kind].strict().parse(object.status)).toEqual(object.status);
  expect(await healthOf(object)).toMatch(health);
});

it('Argo CD shows Progressing while a new object has no status', async () => {
  const { status: _, ...fresh } = recorded['OpenstackConfig configured'] as Recorded;
  expect(await healthOf(fresh)).toBe('Progressing no status for this generation of the spec yet');
});

it('Argo CD shows the health of a legacy status without observedGeneration', async () => {
  const object = recorded['MultiNicNodeConfig configured'] as Recorded;
  const { observedGeneration: _, ...status } = object.status as Record<string, unknown>;
  expect(await healthOf({ ...object, status })).toMatch(/^Healthy /);
});
