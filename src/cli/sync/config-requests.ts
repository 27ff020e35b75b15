import { randomUUID } from 'node:crypto';
import { messageCodeOf } from '../../api/message-codes.ts';
import { annotations, fieldManagers, labels, namespaces } from '../../api/names.ts';
import { pauseOf } from '../../api/pause.ts';
import type { NodeView } from '../../api/read-http.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { ageOf } from '../../explain/wording.ts';
import { Failure } from '../../session/access/failure.ts';
import type { Session } from '../../session/access/session.ts';
import { type ConfigObject, openstackConfigs } from '../../session/facts/kinds.ts';
import { readConfigs } from '../../session/facts/management-facts.ts';
import { readFreshNode } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { Refusal } from '../refusal.ts';
import type { Run } from '../run-command.ts';
import { type AnnotatedRequest, annotationOf, readyIn, requestGate } from './request-gate.ts';

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

/** Ended request, with the object from the last read. */
export interface EndedRequest {
  readonly config: ConfigObject;
  readonly state: 'handled' | 'failing';
}

/** Writes a request as annotation, and waits for its end. Throws Refusal for a paused object, Failure without an end. */
export async function requestOf(
  run: Run,
  config: ConfigObject,
  request: AnnotatedRequest,
  timeoutMs: number,
): Promise<EndedRequest> {
  if (pauseOf(config).isPaused) throw paused(config);
  const name = annotationOf(request);
  await annotate(run, config, { [name]: request.text });
  const ended = await ending(run, config, request, timeoutMs);
  if (ended) return ended;
  throw new Failure(
    `the operator did not handle the request for ${keyOf(config)} within ${timeoutMs / 1_000}s; the annotation ${name} stays, so the operator can still handle it`,
    `look for an operator that runs and leads: kubectl get pods -A -l ${labels.component}=operator; or wait longer with --timeout`,
  );
}

function paused(config: ConfigObject): Refusal {
  const key = keyOf(config);
  const { commands, text } = nextFor('Paused', { config: key });
  const value = JSON.stringify(config.metadata.annotations?.[annotations.paused]);
  return new Refusal(
    `OpenstackConfig ${key} is paused (annotation ${annotations.paused}: ${value})`,
    commands[0] ?? text.en,
  );
}

function observing(config: ConfigObject): Refusal {
  const key = keyOf(config);
  const { commands, text } = nextFor('Observed', { config: key });
  return new Refusal(
    `OpenstackConfig ${key} only observes its nodes (spec.settings.mode: Observe), so nothing is applied`,
    commands[0] ?? text.en,
  );
}

function replaced(config: ConfigObject, name: string): Failure {
  return new Failure(
    `the request for ${keyOf(config)} was replaced by another request (annotation ${name}: ${config.metadata.annotations?.[name]})`,
    'repeat the command after the end of the other request',
  );
}

/** Reads an object again until the request has ended; undefined: the time is over. */
async function ending(
  { session, progress }: Run,
  { metadata: { namespace = '', name } }: ConfigObject,
  request: AnnotatedRequest,
  timeoutMs: number,
): Promise<EndedRequest | undefined> {
  const client = await session.management();
  const { clock, signal } = session;
  const started = clock.monotonicMs();
  const gate = requestGate(request);
  while (clock.monotonicMs() - started < timeoutMs) {
    const config = await client.get(openstackConfigs, { namespace, name }, { signal });
    const state = gate(config, clock.monotonicMs());
    if (state === 'paused') throw paused(config);
    if (state === 'replaced') throw replaced(config, annotationOf(request));
    if (state !== 'open') return { config, state };
    const { status, reason } = readyIn(config);
    progress.show(
      `waiting for the operator to handle ${namespace}/${name} (at most ${timeoutMs / 1_000}s); Ready ${status} ${reason}`,
    );
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
  if (heal && config.spec.settings?.mode === 'Observe') throw observing(config);
  const before = required(await readFreshNode(session, node))?.checkedAt;
  const id = randomUUID();
  const text = JSON.stringify({ id, nodes: [node.nodeName], ...(heal ? { heal } : {}) });
  const request = { kind: 'check', value: id, text } as const;
  const ended = await requestOf(run, config, request, timeoutMs);
  if (ended.state === 'failing') throw failing(ended.config, node);
  return checkedNode(run, { node, heal, timeoutMs }, before);
}

function failing(config: ConfigObject, { providerId, nodeName }: NodeView): Failure {
  const { reason, message } = readyIn(config);
  const { text } = nextFor(reason, { config: keyOf(config), code: messageCodeOf(message) });
  return new Failure(
    `the operator does not pass on the check of node ${providerId}/${nodeName}: ${keyOf(config)} has Ready False ${reason}: ${message}`,
    text.en || 'correct the cause in the message',
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
  throw new Failure(
    `node ${node.providerId}/${node.nodeName} was not checked within ${timeoutMs / 1_000}s${age ? ` (last check ${age} ago)` : ''}; the annotation ${annotations.checkNodes} stays`,
    `look for the agent's Job in the business cluster: kubectl -n ${namespaces.agents} get jobs,pods -l ${labels.nodeName}=${node.nodeName}; or wait longer with --timeout`,
  );
}

/** True between a check that found drift and the agent that repairs it. */
function isToHeal({ drifted, ready }: NodeView): boolean {
  return drifted && ready !== 'False';
}

function isChecked({ checkedAt, state }: NodeView, before: string | undefined): boolean {
  return checkedAt !== undefined && checkedAt !== before && state !== 'InProgress';
}
