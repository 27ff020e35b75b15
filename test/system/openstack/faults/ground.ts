import { expect } from 'vitest';
import { openTenant, type Tenant } from '../../../../rig/openstack/tenant.ts';
import { annotations } from '../../../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../../../src/api/openstackconfig.ts';
import { provider } from '../fields/fixture.ts';
import { cidrs, generous, type Machine, Place } from '../fields/place.ts';

type Wanted = Partial<OpenstackConfigSpec>;

/** The fields fixture, with a second project. */
export class Ground {
  readonly place: Place;
  readonly stranger: Tenant;
  readonly #stack: AsyncDisposableStack;
  readonly #specs = new Map<string, OpenstackConfigSpec>();
  #asked = 0;

  private constructor(place: Place, stranger: Tenant, stack: AsyncDisposableStack) {
    this.place = place;
    this.stranger = stranger;
    this.#stack = stack;
  }

  static async open(): Promise<Ground> {
    await using stack = new AsyncDisposableStack();
    const place = stack.use(await Place.open());
    const stranger = stack.use(await openTenant(place.bed.cloud, 'stranger'));
    return new Ground(place, stranger, stack.move());
  }

  /** Writes an OpenstackConfig; what is not wanted otherwise is as always. */
  async apply(name: string, { settings, ...wanted }: Wanted): Promise<void> {
    const before = this.#specs.get(name) ?? this.place.usual();
    const spec = { ...before, ...wanted, settings: { ...before.settings, ...settings } };
    this.#specs.set(name, spec);
    await this.place.bed.apply(name, spec);
  }

  /** Boots a server with a port in each subnet and waits until an OpenstackConfig with this name delivers the NICs. */
  async delivered(name: string, wanted: Wanted = {}): Promise<Machine> {
    const server = await this.place.boot([this.place.first], { name });
    await this.apply(name, { vmNames: [server.id], ...wanted });
    await this.place.untilHolds(server, cidrs.first);
    return server;
  }

  /** Requests a full sync and resolves at the end. */
  async look(name: string): Promise<void> {
    const asked = `${this.#asked++}`;
    await this.place.bed.annotate(name, annotations.reconcileAt, asked);
    const handled = async () => (await this.place.bed.find(name))?.status?.lastHandledReconcileAt;
    await expect.poll(handled, generous).toBe(asked);
  }

  /** Syncs that fail for this reason, in sequence: an edit requests a sync, but no login. */
  async failingLooks(name: string, reason: string, message = ''): Promise<void> {
    for (const pollErrorInterval of ['2s', '3s', '4s']) {
      await this.apply(name, { settings: { pollErrorInterval } });
      await this.place.untilRefused(name, reason, message);
    }
  }

  /** Pauses all OpenstackConfigs. */
  async rest(): Promise<void> {
    for (const name of this.#specs.keys()) {
      await this.place.bed.annotate(name, annotations.paused, 'true');
    }
    this.#specs.clear();
  }

  /** Waits until the NICs are removed, perhaps with the object. */
  async untilEmpty(server: Machine): Promise<void> {
    const nics = async () => (await this.place.cidrsOf(server)) ?? [];
    await expect.poll(nics, generous).toEqual([]);
  }

  /** Runs `work` and expects that the servers' objects were not written meanwhile. */
  async unchanged(servers: readonly Machine[], work: () => Promise<void>): Promise<void> {
    // A NIC removed and added again raises the generation; a recreated object has a new uid.
    const held = async () =>
      Promise.all(
        servers.map(async ({ id }) => {
          const { metadata, spec } = (await this.place.bed.nodeConfig(id)) ?? {};
          return { uid: metadata?.uid, generation: metadata?.generation, spec };
        }),
      );
    const before = await held();
    for (const { spec } of before) expect(spec?.interfaces?.length).toBeGreaterThan(0);
    await work();
    expect(await held()).toEqual(before);
  }

  /** Credentials in the form of document 002. */
  direct(
    { username, password }: { readonly username: string; readonly password: string },
    { projectId, domainName, keystoneUrl }: Tenant = this.place.bed.tenant,
  ): OpenstackConfigSpec['credentials'] {
    const account = { username, password, projectID: projectId, domainName };
    return { authURL: keystoneUrl, ...account, k8sProviderID: provider };
  }

  /** A Secret with a clouds.yaml for a single cloud, and the credentials that refer to the Secret. */
  async cloudsYaml(name: string, auth: object): Promise<OpenstackConfigSpec['credentials']> {
    const text = JSON.stringify({ clouds: { tenant: { auth } } });
    await this.place.keepSecret(name, 'clouds.yaml', text);
    return { secretRef: { name }, k8sProviderID: provider };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
