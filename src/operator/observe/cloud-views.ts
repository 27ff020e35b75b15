import type { Cloud } from '../../openstack/cloud.ts';
import type { Clock } from '../../time/clock.ts';
import { PortDirectory } from './port-directory.ts';
import { ServerSightings } from './server-sightings.ts';

/** What a cloud is looked at with; shared by all OpenstackConfigs that name it. */
export interface CloudView {
  readonly cloud: Cloud;
  readonly ports: PortDirectory;
  readonly sightings: ServerSightings;
}

/** What OpenstackConfigs share about the clouds they look at. */
export class CloudViews {
  readonly #clock: Clock;
  readonly #lifetime: AbortSignal;
  readonly #views = new WeakMap<Cloud, CloudView>();
  readonly #looking = new Map<string, CloudView>();

  constructor(clock: Clock, lifetime: AbortSignal) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  /** The view of a cloud; the OpenstackConfig no longer looks at any other. */
  of(cloud: Cloud, member: string): CloudView {
    const view = this.#views.get(cloud) ?? this.#make(cloud);
    const before = this.#looking.get(member);
    if (before !== undefined && before !== view) before.ports.leave(member);
    this.#looking.set(member, view);
    return view;
  }

  /** Who looks at the same OpenStack as this OpenstackConfig, in whichever project. */
  companions(member: string): ReadonlySet<string> {
    const name = this.#looking.get(member)?.cloud.name;
    const same = [...this.#looking].filter(([, { cloud }]) => cloud.name === name);
    return new Set(same.map(([key]) => key));
  }

  leave(member: string): void {
    this.#looking.get(member)?.ports.leave(member);
    this.#looking.delete(member);
  }

  #make(cloud: Cloud): CloudView {
    const clock = this.#clock;
    const ports = new PortDirectory({ cloud, clock, lifetime: this.#lifetime });
    const view = { cloud, ports, sightings: new ServerSightings(clock) };
    this.#views.set(cloud, view);
    return view;
  }
}
