import * as z from 'zod';
import { configAnswer, configsAnswer } from './configs.ts';
import { doctorAnswer, fleetAnswer } from './fleet.ts';
import { historyAnswer, historyScreenQuery } from './history.ts';
import { nicAnswer } from './nic.ts';
import { nodeAnswer } from './node.ts';
import { nodesAnswer, nodesScreenQuery } from './nodes.ts';
import { operatorAnswer } from './operator.ts';
import { rolloutsAnswer } from './rollouts.ts';
import { searchAnswer, searchQuery } from './search.ts';

const nothing = z.object({});
const name = z.string().min(1).max(253);
/** Kubernetes name; never a relative path such as `..`. */
const objectName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9][a-z0-9.-]*$/);

/**
 * Read-only screens: path, schema for path parameters and query, schema for the answer. All are GET; send each `:name` by
 * encodeURIComponent.
 */
export const screens = {
  fleet: { path: '/api/fleet', input: nothing, answer: fleetAnswer },
  doctor: { path: '/api/doctor', input: nothing, answer: doctorAnswer },
  nodes: { path: '/api/nodes', input: nodesScreenQuery, answer: nodesAnswer },
  node: {
    path: '/api/nodes/:providerId/:nodeName',
    input: z.object({ providerId: name, nodeName: name }),
    answer: nodeAnswer,
  },
  nic: {
    path: '/api/nics/:providerId/:nodeName/:nic',
    input: z.object({ providerId: name, nodeName: name, nic: name }),
    answer: nicAnswer,
  },
  /** A port without NIC, or of unknown use. */
  port: {
    path: '/api/ports/:portId',
    input: z.object({ portId: z.string().min(1).max(64) }),
    answer: nicAnswer,
  },
  configs: { path: '/api/configs', input: nothing, answer: configsAnswer },
  config: {
    path: '/api/configs/:namespace/:name',
    input: z.object({ namespace: objectName, name: objectName }),
    answer: configAnswer,
  },
  operator: { path: '/api/operator', input: nothing, answer: operatorAnswer },
  rollouts: { path: '/api/rollouts', input: nothing, answer: rolloutsAnswer },
  history: { path: '/api/history', input: historyScreenQuery, answer: historyAnswer },
  search: { path: '/api/search', input: searchQuery, answer: searchAnswer },
} as const;

export type ScreenName = keyof typeof screens;

/** A screen's answer, such as `ScreenAnswer<'nodes'>`; its rows: `ScreenAnswer<'nodes'>['items'][number]`. */
export type ScreenAnswer<Name extends ScreenName> = z.output<(typeof screens)[Name]['answer']>;

/**
 * Shortest time between two examinations (ms). `fleet`, `doctor` and `rollouts` show the last examination if it is
 * younger: after an event, the page asks again when `at` is this old.
 */
export const examinePauseMs = 10_000;
