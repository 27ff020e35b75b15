import { startCloud } from '../../rig/cloud/start.ts';
import { annotations } from '../../src/api/names.ts';
import { createClouds } from '../../src/openstack/clouds.ts';
import { rulesOf } from '../../src/operator/resolve/policy.ts';
import { type Front, openFront } from '../../src/operator/testing/front.ts';
import { createIoClock, type IoClock } from '../../src/operator/testing/io-clock.ts';
import { environment, type Scene, setScene } from '../../src/operator/testing/scene.ts';
import { createLogger } from '../../src/process/log.ts';

const encryptKey = '0123456789abcdef';
const log = createLogger({ part: 'test', level: 'silent' });
const names = ['worker-1', 'worker-2'];

/** An OpenstackConfig with two nodes that have a NIC each, of a cloud behind a front that can spoil what it says. */
export interface BehindFront extends AsyncDisposable {
  readonly front: Front;
  readonly clock: IoClock;
  readonly scene: Scene;
  /** Attaches one more port to the n-th server. */
  attach(at: number): void;
  /** Names of the NICs of both nodes. */
  nics(): string[];
  /** A look at everything anew, as somebody asks for it who wonders what is wrong; answers Ready. */
  look(): Promise<string>;
  /** Lets so much time pass and the operator do what is due; answers in how many milliseconds something is due again. */
  pass(ms: number): Promise<number>;
}

/** Of a cloud that pages its lists after every port; looked at once, and well. */
export async function openBehindFront(): Promise<BehindFront> {
  await using stack = new AsyncDisposableStack();
  const clock = createIoClock();
  const cloud = stack.use(await startCloud({ encryptKey, maxLimit: 1 }));
  const front = stack.use(await openFront(cloud.port));
  const env = {
    ...environment,
    CONTRABASS_ENDPOINT: `${front.url}/contrabass`,
    ALLOWED_ENDPOINTS: 'http://127.0.0.1:*',
  };
  const clouds = (settings: Parameters<typeof rulesOf>[0]) =>
    stack.use(createClouds({ clock, random: () => 0, log, ...rulesOf(settings) }));
  const scene = stack.use(await setScene(env, { clouds }));
  const { projectId } = cloud.controls.createProject({ name: 'tenant' });
  const { networkId } = cloud.controls.createNetwork({ projectId, mtu: 1442 });
  const { subnetId } = cloud.controls.createSubnet({ projectId, networkId, cidr: '10.0.10.0/24' });
  const serverIds = names.map((name) => cloud.controls.createServer({ projectId, name }).serverId);
  const account = { openstackProviderID: cloud.providerId, k8sProviderID: 'biz-1' };
  let looks = 0;

  /** Both clocks are one: what passed for calls has passed for the operator. */
  function after(ms: number): number {
    const now = Math.max(clock.monotonicMs(), scene.clock.monotonicMs()) + ms;
    clock.skip(now - clock.monotonicMs());
    return now - scene.clock.monotonicMs();
  }

  function attach(at: number): void {
    cloud.controls.attach({ serverId: serverIds[at] ?? '', networkId });
  }

  async function look(): Promise<string> {
    looks += 1;
    const ms = after(60_000);
    scene.kube.annotate({ [annotations.reconcileAt]: `look ${looks}` });
    await scene.look(ms);
    return scene.ready();
  }

  for (const at of names.keys()) attach(at);
  scene.create({
    subnetIDs: [subnetId],
    vmNames: serverIds,
    credentials: { ...account, projectID: projectId },
    settings: { portBaseline: 'All' },
  });
  await look();
  const kept = stack.move();
  return {
    front,
    clock,
    scene,
    attach,
    nics: () => names.flatMap((node) => scene.nics(node).map((nic) => nic.split('=')[0] ?? '')),
    look,
    async pass(ms) {
      const nextMs = await scene.reconcile(after(ms));
      if (nextMs === undefined) throw new Error('nothing is due any more');
      return nextMs;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
