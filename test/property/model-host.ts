import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Context, openContext } from '../../src/agent/apply/context.ts';
import { readState } from '../../src/agent/apply/memory.ts';
import { textOf } from '../../src/agent/apply/whole-file.ts';
import { netplan } from '../../src/agent/backends/netplan.ts';
import type { Ip, IpAnswer } from '../../src/agent/ip/session.ts';
import { siteAt, sysctlPath } from '../../src/agent/observe/host.ts';
import { namesIn } from '../../src/agent/observe/host-files.ts';
import { type Operation, sixPrefix } from '../../src/agent/planning/operation.ts';
import {
  type SettingKey,
  type Settings,
  type Snapshot,
  settingKeys,
} from '../../src/agent/snapshot.ts';
import type { Effect } from '../../src/api/effects.ts';
import type { JobRequest } from '../../src/api/job.ts';
import type { Perform } from '../../src/process/effects.ts';
import { createLogger } from '../../src/process/log.ts';
import type { Clock } from '../../src/time/clock.ts';
import { type ModelOptions, perform } from './kernel-model.ts';

/** A clock on which waiting takes no time: nobody but the run itself changes the model. */
function jumpingClock(): Clock {
  let elapsed = 0;
  return {
    now: () => new Date(elapsed),
    monotonicMs: () => elapsed,
    sleep: async (ms) => {
      elapsed += ms;
    },
  };
}

/** A line of `ip -batch` as the operation it stands for. */
export function parsedLine(line: string): Operation {
  const [object = '', verb = '', ...words] = line.replace(sixPrefix, '').split(' ');
  const values = new Words(words);
  const dev = values.of('dev');
  const deletes = verb === 'del';
  if (verb === 'property') return { kind: 'link.altname-delete', dev, name: values.of('altname') };
  if (object === 'link') return parsedLink(dev, words.slice(2));
  if (object === 'addr') {
    return {
      kind: deletes ? 'address.delete' : 'address.add',
      dev,
      address: parsedAddress(values),
    };
  }
  if (object === 'rule') {
    return { kind: deletes ? 'rule.delete' : 'rule.add', rule: parsedRule(values) };
  }
  return { kind: deletes ? 'route.delete' : 'route.set', dev, route: parsedRoute(values) };
}

/** Words of a line, most of them keys and their values. */
class Words {
  readonly #words: readonly string[];

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  get first(): string {
    return this.#words[0] ?? '';
  }

  has(key: string): boolean {
    return this.#words.includes(key);
  }

  of(key: string): string {
    return this.has(key) ? (this.#words[this.#words.indexOf(key) + 1] ?? '') : '';
  }
}

function parsedAddress(words: Words) {
  const broadcast = words.of('broadcast');
  return {
    cidr: words.first,
    ...(broadcast ? { broadcast } : {}),
    noPrefixRoute: words.has('noprefixroute'),
  };
}

function parsedRule(words: Words) {
  const [table, priority, protocol] = ['table', 'priority', 'protocol'].map((key) =>
    Number(words.of(key)),
  );
  return {
    from: words.of('from'),
    table: table ?? 0,
    priority: priority ?? 0,
    protocol: protocol ?? 0,
  };
}

function parsedRoute(words: Words) {
  const [via, src] = [words.of('via'), words.of('src')];
  return {
    to: words.first,
    ...(via ? { via } : {}),
    ...(src ? { src } : {}),
    table: Number(words.of('table')),
    protocol: Number(words.of('proto')),
    scope: Number(words.of('scope')),
    metric: Number(words.of('metric')),
  };
}

function parsedLink(dev: string, [key = '', value = '']: readonly string[]): Operation {
  if (key === 'name') return { kind: 'link.rename', dev, to: value };
  if (key === 'mtu') return { kind: 'link.mtu', dev, mtu: Number(value) };
  if (key === 'addrgenmode') return { kind: 'link.address-mode', dev, mode: value };
  return { kind: key === 'up' ? 'link.up' : 'link.down', dev };
}

/** A host of which the kernel is the model and the files are real. */
export class ModelHost implements Ip, Disposable {
  readonly root: string;
  kernel: Snapshot;
  /** Lines that the kernel refuses. */
  refuses: (line: string, count: number) => boolean = () => false;
  /** Lines done so far. */
  readonly done: string[] = [];
  readonly #options: ModelOptions;

  private constructor(root: string, kernel: Snapshot, options: ModelOptions) {
    this.root = root;
    this.kernel = kernel;
    this.#options = options;
    this.#showSettings();
  }

  static async of(
    kernel: Snapshot,
    options: ModelOptions = { promote: false },
  ): Promise<ModelHost> {
    const root = await mkdtemp(join(tmpdir(), 'multinic-model-'));
    mkdirSync(join(root, 'etc/netplan'), { recursive: true });
    mkdirSync(join(root, 'usr/lib/netplan'), { recursive: true });
    return new ModelHost(root, kernel, options);
  }

  async run(lines: readonly string[]): Promise<IpAnswer> {
    this.#takeSettings();
    for (const [failedAt, line] of lines.entries()) {
      const words = this.#tried(line);
      this.#showSettings();
      if (words !== undefined) return { failedAt, words };
    }
    const { links, addresses, routes, rules, neighbours } = this.kernel;
    return { seen: { links, addresses, routes, rules, neighbours } };
  }

  /** Changes the kernel outside a run, such as plugging a NIC. */
  update(change: (kernel: Snapshot) => Partial<Snapshot>): void {
    this.#takeSettings();
    this.kernel = { ...this.kernel, ...change(this.kernel) };
    this.#showSettings();
  }

  /** What a run takes that the request is for; `effect` stands for the writes. */
  context(request: JobRequest, effect: Perform<Effect>): Context {
    const log = createLogger({ part: 'agent', level: 'fatal', destination: { write: () => true } });
    const state = readState(this.root);
    const macs = new Set([...request.interfaces, ...state.nics].map(({ mac }) => mac));
    const tools = { clock: jumpingClock(), log, perform: effect };
    const host = { ...siteAt(this.root, this), backend: netplan };
    return openContext(host, request, state, macs, tools);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }

  /** Why the kernel refuses the line. */
  #tried(line: string): string | undefined {
    if (this.refuses(line, this.done.length)) return 'RTNETLINK answers: Operation not permitted';
    try {
      this.kernel = perform(this.kernel, parsedLine(line), this.#options);
      this.done.push(line);
      return undefined;
    } catch (error) {
      // The model refuses by throwing.
      return `RTNETLINK answers: ${(error as Error).message}`;
    }
  }

  #takeSettings(): void {
    const settings = [...this.kernel.settings].map(
      ([name, those]) => [name, mapped(those, (key) => this.#read(name, key))] as const,
    );
    this.kernel = { ...this.kernel, settings: new Map(settings) };
  }

  /** Only what differs: a file system takes its time for each change. */
  #showSettings(): void {
    const { settings, defaultSettings } = this.kernel;
    const all = new Map([...settings, ['default', defaultSettings] as const]);
    const root = join(this.root, 'proc/sys/net');
    for (const family of ['ipv4', 'ipv6']) {
      for (const name of namesIn(join(root, family, 'conf'))) {
        if (!all.has(name)) rmSync(join(root, family, 'conf', name), { recursive: true });
      }
    }
    for (const [name, those] of all) {
      for (const key of settingKeys) show(sysctlPath(root, name, key), those[key]);
    }
  }

  #read(link: string, key: SettingKey): string {
    return readFileSync(sysctlPath(join(this.root, 'proc/sys/net'), link, key), 'utf8');
  }
}

function show(path: string, value: string | undefined): void {
  const shown = textOf(path) ?? undefined;
  if (shown === value) return;
  if (value === undefined) return rmSync(path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, value);
}

function mapped(those: Settings, value: (key: SettingKey) => string): Settings {
  const present = settingKeys.filter((key) => those[key] !== undefined);
  return Object.fromEntries(present.map((key) => [key, value(key)]));
}
