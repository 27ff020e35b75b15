import * as z from 'zod';
import { type OpenstackUser, send } from './openstack-http.ts';

/** What the live services say about themselves. */
export interface CloudVersions {
  /** Version of the identity API, as `v3.14`. */
  readonly keystone: string;
  /** Version of the network API, as `v2.0`. */
  readonly neutron: string;
  /** Newest microversion of the compute API, as `2.93`. */
  readonly nova: string;
}

const keystoneSchema = z.object({
  versions: z.object({ values: z.array(z.object({ id: z.string(), status: z.string() })) }),
});
const neutronSchema = z.object({ versions: z.array(z.object({ id: z.string() })) });
const novaSchema = z.object({
  versions: z.array(z.object({ id: z.string(), status: z.string(), version: z.string() })),
});

/** Reads the versions that the three services publish without a login. */
export async function readVersions(
  keystoneUrl: string,
  user: OpenstackUser,
): Promise<CloudVersions> {
  const keystone = keystoneSchema.parse(await root(keystoneUrl)).versions.values;
  const neutron = neutronSchema.parse(await root(user.url('network'))).versions;
  const nova = novaSchema.parse(await root(user.url('compute'))).versions;
  return {
    keystone: keystone.find((version) => version.status === 'stable')?.id ?? '',
    neutron: neutron[0]?.id ?? '',
    nova: nova.find((version) => version.status === 'CURRENT')?.version ?? '',
  };
}

async function root(url: string): Promise<unknown> {
  const answer = await send(`${url.replace(/\/(v3|v2\.1)?\/?$/, '')}/`, { path: '' });
  return answer.body;
}
