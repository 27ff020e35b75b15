import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import { attach, type Scene } from './scene.ts';

export const both = { subnetIDs: ['sub-a', 'sub-b'] };
export const onlyB = { subnetIDs: ['sub-b'] };

/** Attaches port `pN` to the n-th server, in subnet sub-b. */
function attachInB({ cloud }: Scene, n: number, server: number): void {
  attach(cloud, n, server);
  const port = cloud.ports.pop();
  const fixedIps = [{ subnetId: 'sub-b', ipAddress: `10.0.20.${n}` }];
  if (port) cloud.ports.push({ ...port, networkId: 'net-b', fixedIps });
}

/** Delivers ten NICs to each of two nodes: `inA` NICs in subnet sub-a, first on worker-1, and the rest in sub-b. */
export async function deliverTwenty(
  scene: Scene,
  inA: number,
  more: Partial<OpenstackConfigSpec> = {},
): Promise<void> {
  for (let n = 1; n <= 20; n++) {
    const server = n <= 10 ? 1 : 2;
    if (n <= inA) attach(scene.cloud, n, server);
    else attachInB(scene, n, server);
  }
  scene.create({ ...both, ...more });
  await scene.look();
}

export function nicsLeft(scene: Scene): number {
  return scene.nics('worker-1').length + scene.nics('worker-2').length;
}
