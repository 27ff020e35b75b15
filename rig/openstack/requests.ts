import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { OpenstackUser, ServiceType } from './openstack-http.ts';

const identified = z.object({ id: z.string() });
const patienceMs = 120_000;
const pollMs = 100;

/** Asks until it is so; fails after two minutes, because a busy machine stretches one second to ten. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${patienceMs / 1000} s: ${what}`);
    await sleep(pollMs);
  }
}

/** Creates a resource, whose body is `{key: …}`. */
export async function make(
  who: OpenstackUser,
  service: ServiceType,
  path: string,
  key: string,
  request: object,
): Promise<{ id: string }> {
  const body = await who.ask(service, { method: 'POST', path, body: { [key]: request } });
  return identified.parse(z.record(z.string(), z.unknown()).parse(body)[key]);
}

/** Gives a user a role in a project. */
export async function grant(
  admin: OpenstackUser,
  projectId: string,
  userId: string,
  name: string,
): Promise<void> {
  const role = await firstNamed(admin, 'identity', `/roles?name=${name}`, 'roles', name);
  await admin.ask('identity', {
    method: 'PUT',
    path: `/projects/${projectId}/users/${userId}/roles/${role.id}`,
  });
}

/** Takes a role in a project from a user. */
export async function revoke(
  admin: OpenstackUser,
  projectId: string,
  userId: string,
  name: string,
): Promise<void> {
  const role = await firstNamed(admin, 'identity', `/roles?name=${name}`, 'roles', name);
  await remove(admin, 'identity', `/projects/${projectId}/users/${userId}/roles/${role.id}`);
}

/** The body, or undefined for a 404. */
export async function found(
  who: OpenstackUser,
  service: ServiceType,
  path: string,
): Promise<unknown> {
  const answer = await who.raw(service, { path });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
  return answer.body;
}

/** Deletes; what is gone already is fine. */
export async function remove(
  who: OpenstackUser,
  service: ServiceType,
  path: string,
): Promise<void> {
  const answer = await who.raw(service, { method: 'DELETE', path });
  if (answer.status >= 300 && answer.status !== 404) {
    throw new Error(`DELETE ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** Deletes a network with all ports on it, whoever made them. */
export async function removeNetwork(user: OpenstackUser, id: string): Promise<void> {
  const body = await user.ask('network', { path: `/v2.0/ports?network_id=${id}&fields=id` });
  for (const port of z.object({ ports: z.array(identified) }).parse(body).ports) {
    await remove(user, 'network', `/v2.0/ports/${port.id}`);
  }
  await remove(user, 'network', `/v2.0/networks/${id}`);
}

/** What servers boot from. */
export async function bootableOf(user: OpenstackUser): Promise<{ flavor: string; image: string }> {
  const flavor = await firstNamed(user, 'compute', '/flavors', 'flavors', 'm1.fake');
  const image = await firstNamed(user, 'image', '/v2/images', 'images', 'fake');
  return { flavor: flavor.id, image: image.id };
}

async function firstNamed(
  who: OpenstackUser,
  service: ServiceType,
  path: string,
  key: string,
  name: string,
): Promise<{ id: string }> {
  const list = z.array(identified.extend({ name: z.string() }));
  const body = z.record(z.string(), z.unknown()).parse(await who.ask(service, { path }));
  const match = list.parse(body[key]).find((item) => item.name === name);
  if (match === undefined) throw new Error(`there is no ${name} in ${service} ${path}`);
  return match;
}
