import type { Life } from '../life.ts';
import { type Act, forLive, pick } from './act.ts';
import { drop, dropWithConsent } from './consents.ts';
import { deleteWithConsent } from './deletions.ts';
import { emptyAll } from './edits.ts';

const minuteMs = 60_000;

async function setReady(life: Life, status: 'True' | 'Unknown'): Promise<void> {
  for (const host of life.names) {
    if (life.cluster.node(host)) await life.fixture.setReady(host, status);
  }
}

/** Users drop or delete NICs while all Nodes are not ready; 61 to 141 min later all Nodes are ready again. */
const hourPasses: Act = async (life, { variant, amount }) => {
  await setReady(life, 'Unknown');
  await life.pass(5);
  const act = pick([dropWithConsent, deleteWithConsent, emptyAll], variant);
  await act(life, { name: '', hosts: life.names, variant: 0, amount: 0.9, steps: 0 });
  await life.pass(20);
  life.fixture.clock.setWall(50 * minuteMs);
  // A new process counts acts whose consents end later.
  if (amount < 0.5) await life.restart();
  await life.pass(10);
  life.fixture.clock.setWall((11 + 80 * amount) * minuteMs);
  await setReady(life, 'True');
  await life.pass(50);
};

/** Number of nodes that may lose NICs without consent: their runs enter the queue. */
const groupSize = 3;

/**
 * Drops NICs while a dead kubelet occupies the only slot, and undoes the edits before their runs start; drops the same
 * NICs without consent after the hour.
 */
const undoQueued: Act = async (life, { variant }) => {
  const { cluster } = life;
  const [busy = '', ...hosts] = life.names.slice(0, 1 + 2 * groupSize);
  const hasConsent = variant < 0.5;
  await life.restart({ 'max-in-flight': '1' });
  life.fixture.agents.dead.add(busy);
  await forLive(life, [busy], async (name) => {
    const { interfaces } = cluster.wantedOf(name);
    const mtu = interfaces[0]?.mtu === 1400 ? 1500 : 1400;
    await cluster.write(name, { interfaces: interfaces.map((nic) => ({ ...nic, mtu })) });
  });
  await life.pass(10);
  const size = hasConsent ? hosts.length : groupSize;
  const specs = new Map(hosts.map((host) => [host, cluster.wantedOf(cluster.nameFor(host))]));
  for (let first = 0; first < hosts.length; first += size) {
    const group = hosts.slice(first, first + size);
    await forLive(life, group, async (name) => {
      if (hasConsent) await drop(life, name, 'consented', { variant: 'same', amount: 0.5 });
      else await cluster.write(name, { interfaces: [] });
    });
    await life.pass(hasConsent ? 15 : 50);
    await forLive(life, group, (name, _, host) => cluster.write(name, specs.get(host) ?? {}));
    await life.pass(5);
  }
  life.fixture.agents.dead.delete(busy);
  await life.pass(40);
  life.fixture.clock.setWall(65 * minuteMs);
  await forLive(life, hosts, async (name, _, host) => {
    const { interfaces = [] } = specs.get(host) ?? {};
    const half = hasConsent ? interfaces.slice(0, Math.floor(interfaces.length / 2)) : [];
    await cluster.write(name, { interfaces: half });
  });
  await life.pass(50);
  await life.restart();
};

/** Acts of users with time between them; the number is the relative frequency. */
export const waits = {
  hourPasses: [hourPasses, 4],
  undoQueued: [undoQueued, 3],
} as const satisfies Record<string, readonly [Act, number]>;
