import type { Logger } from '../../../process/log.ts';
import type { ConfigReads } from '../read-api/config-reads.ts';
import type { ReadSources } from '../read-api/read-sources.ts';
import { type VisibleConfig, visibleConfigs } from '../read-api/visible-configs.ts';
import { type Fleet, fleetConfig } from './fleet.ts';

interface ObjectData {
  /** The object with the last sync when the read started. */
  readonly of: VisibleConfig;
  /** Data from the objects; undefined: none. */
  readonly reads: ConfigReads | undefined;
}

/** Reads all rows from the list routes' sources, without waiting for a business cluster. */
export class FleetReader {
  readonly #sources: ReadSources;
  /** Data from the objects, by OpenstackConfig. */
  readonly #objects = new Map<string, ObjectData>();
  readonly #reading = new Set<string>();

  readonly #log: Logger;

  constructor(sources: ReadSources, log: Logger) {
    this.#log = log;
    this.#sources = sources;
  }

  /** Returns the rows as far as they are known, and starts due object reads: a later call returns their data. */
  read(): Fleet {
    const { deps } = this.#sources;
    const configs = visibleConfigs(deps, undefined);
    const keys = new Set(configs.map(({ key }) => key));
    for (const key of this.#objects.keys()) if (!keys.has(key)) this.#objects.delete(key);
    const { mode } = deps.triggers;
    const fleet = configs.map((config) => {
      const data = this.#objects.get(config.key);
      const reads = data && isOf(data, config) ? data.reads : config.reads;
      return [config.key, fleetConfig(config, reads, mode)] as const;
    });
    this.#startReads(configs.filter(({ key }) => !this.#reading.has(key)));
    return new Map(fleet);
  }

  #startReads(configs: readonly VisibleConfig[]): void {
    for (const [at, filled] of this.#sources.objects.fillEach(configs).entries()) {
      const config = configs[at];
      if (config) void this.#note(config, filled);
    }
  }

  async #note(config: VisibleConfig, filled: Promise<VisibleConfig>): Promise<void> {
    const { key } = config;
    this.#reading.add(key);
    try {
      const { reads } = await filled;
      this.#objects.set(key, { of: config, reads });
    } catch (err) {
      this.#log.error({ err, config: key }, 'nodes of an OpenstackConfig not read');
    } finally {
      this.#reading.delete(key);
    }
  }
}

/** Data from a former object, or from before a sync, are stale. */
function isOf({ of }: ObjectData, { object, reads }: VisibleConfig): boolean {
  return of.reads === reads && of.object.metadata.uid === object.metadata.uid;
}
