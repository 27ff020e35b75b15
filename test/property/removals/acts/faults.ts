import { type Act, fewOf } from './act.ts';

const minuteMs = 60_000;

const nodeLeaves: Act = async (life, act) => {
  for (const host of fewOf(act)) await life.cluster.leave(host);
};

const nodeJoins: Act = async (life, { hosts }) => {
  for (const host of hosts) await life.cluster.join(host);
};

const nodeNotReady: Act = async (life, act) => {
  for (const host of fewOf(act)) {
    if (life.cluster.node(host)) await life.fixture.setReady(host, 'Unknown');
  }
};

/** Kubelets die: their Pods neither start nor end. */
const kubeletDies: Act = async (life, act) => {
  for (const host of fewOf(act)) life.fixture.agents.dead.add(host);
};

const kubeletStarts: Act = async (life) => life.fixture.agents.dead.clear();

const unplug: Act = async (life, act) => {
  for (const host of fewOf(act)) {
    for (const mac of life.hosts.macsOn(host)) life.hosts.unplugged.add(mac);
  }
};

const plug: Act = async (life) => life.hosts.unplugged.clear();

const restart: Act = async (life) => life.restart();

const kill: Act = async (life, { amount }) => life.killIn(1 + Math.floor(12 * amount));

const loseResults: Act = async (life, act) => {
  for (const host of act.hosts) life.hosts.losing.add(host);
};

const oldAgents: Act = async (life, act) => {
  for (const host of fewOf(act)) life.hosts.old.add(host);
};

const newAgents: Act = async (life) => life.hosts.old.clear();

/** Sets the wall clocks ahead by up to 90 minutes; sleeping processes sleep on. */
const wait: Act = async (life, { amount }) => {
  life.fixture.clock.setWall((1 + 89 * amount) * minuteMs);
  await life.pass(15);
};

/** Faults and time; the number is the relative frequency. */
export const faults = {
  nodeLeaves: [nodeLeaves, 2],
  nodeJoins: [nodeJoins, 3],
  nodeNotReady: [nodeNotReady, 2],
  kubeletDies: [kubeletDies, 2],
  kubeletStarts: [kubeletStarts, 2],
  unplug: [unplug, 2],
  plug: [plug, 2],
  restart: [restart, 3],
  kill: [kill, 4],
  loseResults: [loseResults, 2],
  oldAgents: [oldAgents, 2],
  newAgents: [newAgents, 2],
  wait: [wait, 6],
} as const satisfies Record<string, readonly [Act, number]>;
