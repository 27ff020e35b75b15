import { randomUUID } from 'node:crypto';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { NodeView } from '../../api/read-http.ts';
import { ageOf } from '../../explain/wording.ts';
import type { Session } from '../access/session.ts';
import { type ConfigObject, openstackConfigs } from '../facts/kinds.ts';
import { readConfigs } from '../facts/management-facts.ts';
import { readFreshNode } from '../facts/operator-facts.ts';
import { required } from '../output/list.ts';
import { Refusal } from '../refusal.ts';
import type { Run } from '../run-command.ts';

/** Interval between reads while waiting (ms). */
const pollMs = 1_000;

/** Finds an OpenstackConfig by `name` or `namespace/name`. Throws if several namespaces have the name. */
export async function findConfig(
  session: Session,
  text: string,
  namespace: string | undefined,
): Promise<ConfigObject> {
  const [name = '', own = namespace] = text.split('/').toReversed();
  const all = required(await readConfigs(session, own));
  const found = all.filter(({ metadata }) => metadata.name === name);
  const [config] = found;
  if (config && found.length === 1) return config;
  const where = own === undefined ? '' : ` in namespace ${own}`;
  if (!config) {
    const names = all.map(keyOf).join(', ') || 'none';
    throw new Refusal(
      `no OpenstackConfig ${name}${where}`,
      `choose one of those that exist: ${names}`,
    );
  }
  const places = found.map(keyOf).join(', ');
  throw new Refusal(
    `${found.length} OpenstackConfigs have the name ${name}: ${places}`,
    'add -n NAMESPACE',
  );
}

export function keyOf({ metadata: { namespace = '', name } }: ConfigObject): string {
  return `${namespace}/${name}`;
}

export async function annotate(
  { session }: Run,
  { metadata: { namespace = '', name } }: ConfigObject,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const client = await session.management();
  const patch = { metadata: { annotations: values } };
  const { signal } = session;
  const ref = { namespace, name };
  await client.patch(openstackConfigs, ref, patch, { fieldManager: fieldManagers.cli, signal });
}

/** Reads an object again until `isDone`; undefined: the time is over. */
export async function waitForConfig(
  { session, progress }: Run,
  { metadata: { namespace = '', name } }: ConfigObject,
  timeoutMs: number,
  isDone: (config: ConfigObject) => boolean,
): Promise<ConfigObject | undefined> {
  const client = await session.management();
  const { clock, signal } = session;
  const started = clock.monotonicMs();
  while (clock.monotonicMs() - started < timeoutMs) {
    const config = await client.get(openstackConfigs, { namespace, name }, { signal });
    if (isDone(config)) return config;
    const seconds = Math.round((clock.monotonicMs() - started) / 1_000);
    progress.show(`waiting for the operator to handle ${namespace}/${name} (${seconds}s)`);
    await clock.sleep(pollMs, signal);
  }
  return undefined;
}

export interface CheckRequest {
  readonly node: NodeView;
  readonly heal: boolean;
  readonly timeoutMs: number;
}

/** Requests a check of a node through its OpenstackConfig, and waits for the result. */
export async function checkNode(
  run: Run,
  { node, heal, timeoutMs }: CheckRequest,
): Promise<NodeView> {
  const { session } = run;
  const config = await findConfig(session, node.config, undefined);
  const before = required(await readFreshNode(session, node))?.checkedAt;
  const id = randomUUID();
  const request = JSON.stringify({ id, nodes: [node.nodeName], ...(heal ? { heal } : {}) });
  await annotate(run, config, { [annotations.checkNodes]: request });
  const handled = await waitForConfig(run, config, timeoutMs, (read) => handledCheck(read) === id);
  if (!handled) throw notHandled(config, timeoutMs);
  return checkedNode(run, { node, heal, timeoutMs }, before);
}

/** `status.lastHandledCheckNodes`; an earlier operator does not write the field. */
function handledCheck({ status = {} }: ConfigObject): unknown {
  return (status as Readonly<Record<string, unknown>>)['lastHandledCheckNodes'];
}

export function notHandled(config: ConfigObject, timeoutMs: number): Error {
  return new Refusal(
    `the operator did not handle the request for ${keyOf(config)} within ${timeoutMs / 1_000}s`,
    'find the cause with: kubectl multinic status; or wait longer with --timeout',
  );
}

async function checkedNode(
  { session, progress }: Run,
  { node, heal, timeoutMs }: CheckRequest,
  before: string | undefined,
): Promise<NodeView> {
  const { clock, signal } = session;
  const started = clock.monotonicMs();
  while (clock.monotonicMs() - started < timeoutMs) {
    const read = required(await readFreshNode(session, node));
    if (read && isChecked(read, before) && !(heal && isToHeal(read))) return read;
    progress.show(`waiting for the agent on ${node.providerId}/${node.nodeName}`);
    await clock.sleep(pollMs, signal);
  }
  const age = ageOf(before, session.now()).en;
  throw new Refusal(
    `node ${node.providerId}/${node.nodeName} was not checked within ${timeoutMs / 1_000}s${age ? ` (last check ${age} ago)` : ''}`,
    `find the cause with: kubectl multinic why ${node.providerId}/${node.nodeName}; or wait longer with --timeout`,
  );
}

/** True between a check that found drift and the agent that repairs it. */
function isToHeal({ drifted, ready }: NodeView): boolean {
  return drifted && ready !== 'False';
}

function isChecked({ checkedAt, state }: NodeView, before: string | undefined): boolean {
  return checkedAt !== undefined && checkedAt !== before && state !== 'InProgress';
}
