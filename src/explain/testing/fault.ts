import type { NicView, NodeView, PortView } from '../../api/read-http.ts';
import type { StepName } from '../../api/step-names.ts';
import type { PortFacts } from '../facts.ts';
import type { PortConfigView } from '../subject.ts';
import { nic, node, port, portFacts, read } from './healthy.ts';

/** Fault in the facts, and the step with the fault's reason. */
export interface Fault {
  readonly title: string;
  readonly facts: Partial<PortFacts>;
  readonly step: StepName;
  /** Default: `fail`. */
  readonly result?: 'fail' | 'warn';
  readonly reason: string;
  /** Required values in the evidence. */
  readonly evidence: readonly string[];
  /** First command; empty: none exists. */
  readonly command: string;
  /** Facts required by the step. */
  readonly decides: readonly (keyof PortFacts)[];
}

export function portWith(more: Partial<PortView>): Partial<PortFacts> {
  return { port: read({ ...port, ...more }) };
}

export function configWith(more: Partial<PortConfigView>): PortConfigView {
  const [first] = port.configs;
  if (!first) throw new Error('the port has an OpenstackConfig');
  return { ...first, ...more };
}

/** The port without a NIC, with the last sync's reason. */
export function refusedBy(reason: string, message: string, more: Partial<PortView> = {}) {
  const verdict = { config: 'multinic-system/storage', reason, message, at: port.readAt };
  return { ...portWith({ verdict, ...more }), node: read(node(18, { nics: [nic(18, 0)] })) };
}

export function undecided(more: Partial<PortConfigView>): Partial<PortFacts> {
  const { verdict: _, ...rest } = port;
  const facts = { port: read({ ...rest, configs: [configWith(more)] }) };
  return { ...facts, node: read(node(18, { nics: [nic(18, 0)] })) };
}

/** Port before the first sync: Viola does not reach the business cluster. */
export const neverDelivered = ofFirstSync({
  ready: 'False',
  reason: 'ViolaPostError',
  message: 'Viola refuses',
});

function ofFirstSync(more: Partial<PortConfigView>): Partial<PortFacts> {
  const [{ lastSyncAt: _l, ...config } = configWith({})] = port.configs;
  const { verdict: _v, node: _n, delivery: _d, ...rest } = port;
  return { port: read({ ...rest, configs: [{ ...config, ...more }] }), node: read(undefined) };
}

export function unsynced(more: Partial<PortConfigView>): Partial<PortFacts> {
  const [{ selectsServer: _s, selectsSubnet: _n, lastSyncAt: _l, ...rest } = configWith({})] =
    port.configs;
  const { verdict: _v, node: _node, delivery: _d, ...ofPort } = port;
  return { port: read({ ...ofPort, configs: [{ ...rest, ...more }] }), node: read(undefined) };
}

export function nodeWith(more: Partial<NodeView>): Partial<PortFacts> {
  return { node: read(node(18, more)) };
}

export function nicWith(
  more: Partial<NicView>,
  ofNode: Partial<NodeView> = {},
): Partial<PortFacts> {
  return nodeWith({ ...ofNode, nics: [nic(18, 0), nic(18, 1, more)] });
}

export function notReady(reason: string, message: string, state = 'Failed'): Partial<NodeView> {
  return { ready: 'False', state, reason, message };
}

const { delivery: _, ...withoutDelivery } = port;
const { object: _object, ...withoutObject } = node(18, { state: 'Unknown', ready: 'Unknown' });
export const undelivered = { port: read(withoutDelivery), node: read(withoutObject) };

export const patch = 'kubectl -n multinic-system patch osc storage --type';
export const ready = '2026-11-26T05:20:00Z';

/** Returns a fault's facts, based on a healthy system. */
export function factsOf({ facts }: Fault): PortFacts {
  return { ...portFacts, ...facts };
}
